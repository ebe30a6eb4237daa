#include "service/storage/commit/tombstone_counts.h"

#include <iterator>

#include "absl/strings/match.h"
#include "service/storage/format/key_codec.h"

namespace ttl {
namespace {

// The prefix of the range that a key is in; empty if its erasure is not counted.
absl::string_view RangeOf(absl::string_view key) {
  constexpr size_t kTableAndNumber = 9;
  if (key.size() <= kTableAndNumber) return {};
  if (key[0] == kItemTable || key[0] == kEventTable) return key.substr(0, kTableAndNumber);
  if (key[0] == kIndexTable) return key.substr(0, kTableAndNumber + 1);
  return {};
}

}  // namespace

void TombstoneCounts::AddErased(const WriteSet& writes) {
  MutexLock lock(mutex_);
  for (const auto& [key, value] : writes) {
    if (value.has_value()) continue;
    const absl::string_view prefix = RangeOf(key);
    if (prefix.empty()) continue;
    Count& count = ranges_.try_emplace(std::string(prefix)).first->second;
    ++count.erased;
    ++count.erased_in_front;
  }
}

std::vector<TombstoneCounts::Range> TombstoneCounts::FindAtLeast(int64_t least) const {
  std::vector<Range> found;
  MutexLock lock(mutex_);
  for (const auto& [prefix, count] : ranges_) {
    if (count.erased_in_front < least) continue;
    found.push_back({prefix, count.erased, count.erased_in_front});
  }
  return found;
}

void TombstoneCounts::ClearFront(absl::string_view prefix) {
  MutexLock lock(mutex_);
  const auto it = ranges_.find(prefix);
  if (it != ranges_.end()) it->second.erased_in_front = 0;
}

void TombstoneCounts::Clear(absl::string_view prefix) {
  MutexLock lock(mutex_);
  const auto it = ranges_.find(prefix);
  if (it != ranges_.end()) ranges_.erase(it);
}

void TombstoneCounts::ForgetFew(absl::string_view prefix, int64_t least) {
  MutexLock lock(mutex_);
  for (auto it = ranges_.lower_bound(prefix);
       it != ranges_.end() && absl::StartsWith(it->first, prefix);) {
    it = it->second.erased_in_front < least ? ranges_.erase(it) : std::next(it);
  }
}

}  // namespace ttl
