#include "service/storage/commit/graveyard.h"

#include <iterator>

#include "absl/strings/match.h"
#include "service/storage/format/key_codec.h"

namespace ttl {
namespace {

// The prefix of the range that a key is in; empty if it is in none that counts.
absl::string_view PlotOf(absl::string_view key) {
  constexpr size_t kTableAndNumber = 9;
  if (key.size() <= kTableAndNumber) return {};
  if (key[0] == kItemTable) return key.substr(0, kTableAndNumber);
  if (key[0] == kIndexTable) return key.substr(0, kTableAndNumber + 1);
  return {};
}

}  // namespace

void Graveyard::Bury(const WriteSet& writes) {
  MutexLock lock(mutex_);
  for (const auto& [key, value] : writes) {
    if (value.has_value()) continue;
    const absl::string_view prefix = PlotOf(key);
    if (prefix.empty()) continue;
    Count& count = plots_.try_emplace(std::string(prefix)).first->second;
    ++count.erased;
    ++count.erased_in_front;
  }
}

std::vector<Graveyard::Plot> Graveyard::FindFull(int64_t least) const {
  std::vector<Plot> full;
  MutexLock lock(mutex_);
  for (const auto& [prefix, count] : plots_) {
    if (count.erased_in_front < least) continue;
    full.push_back({prefix, count.erased, count.erased_in_front});
  }
  return full;
}

void Graveyard::ClearFront(absl::string_view prefix) {
  MutexLock lock(mutex_);
  const auto it = plots_.find(prefix);
  if (it != plots_.end()) it->second.erased_in_front = 0;
}

void Graveyard::Clear(absl::string_view prefix) {
  MutexLock lock(mutex_);
  const auto it = plots_.find(prefix);
  if (it != plots_.end()) plots_.erase(it);
}

void Graveyard::ForgetFew(absl::string_view prefix, int64_t least) {
  MutexLock lock(mutex_);
  for (auto it = plots_.lower_bound(prefix);
       it != plots_.end() && absl::StartsWith(it->first, prefix);) {
    it = it->second.erased_in_front < least ? plots_.erase(it) : std::next(it);
  }
}

}  // namespace ttl
