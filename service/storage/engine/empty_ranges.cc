#include "service/storage/engine/empty_ranges.h"

#include <algorithm>
#include <iterator>

namespace ttl {
namespace {

// A range is empty in every state of the database from the moment it was added. A write cuts its
// keys out of the ranges before it is made. The range that a look adds is limited by the keys of
// each write that its snapshot may miss: the one in progress when the snapshot was taken, and those
// begun since. A look takes its snapshot under the lock under which it asks for a range, so the
// range is empty in the snapshot as well.

constexpr size_t kNumberedBytes = 9;

// After every key.
const char kAfterAll[] = "\xff";

// The table and number that a key is in, as one that can be compared.
uint64_t NumberOf(absl::string_view key) {
  uint64_t number = 0;
  for (size_t i = 1; i < kNumberedBytes; ++i) {
    number = number << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
  }
  return number;
}

}  // namespace

bool EmptyRanges::IsWide(absl::string_view from, absl::string_view to) {
  if (from >= to) return false;
  if (from.empty() || from[0] != to[0]) return true;
  return NumberOf(to) - NumberOf(from) >= kMinNumbers;
}

EmptyRanges::Look::Look(EmptyRanges& ranges, absl::string_view start,
                        absl::FunctionRef<void()> take_snapshot)
    : ranges_(ranges), start_(start), from_(start) {
  const MutexLock lock(ranges_.mutex_);
  take_snapshot();
  auto behind = ranges_.ends_.upper_bound(start_);
  if (behind != ranges_.ends_.begin()) from_ = std::max(from_, std::prev(behind)->second);
  may_miss_write_ = ranges_.writes_ != nullptr;
  ranges_.looks_.push_back(this);
}

EmptyRanges::Look::~Look() {
  const MutexLock lock(ranges_.mutex_);
  std::erase(ranges_.looks_, this);
}

void EmptyRanges::Look::Found(std::optional<absl::string_view> key) {
  std::string end(key.value_or(kAfterAll));
  if (!IsWide(start_, end)) return;
  const MutexLock lock(ranges_.mutex_);
  if (may_miss_write_) Limit(*this, *ranges_.writes_);
  if (limit_.has_value()) end = std::min(end, *limit_);
  if (IsWide(start_, end)) ranges_.Add(start_, std::move(end));
}

void EmptyRanges::BeginWrite(const Writes& writes) {
  const MutexLock lock(mutex_);
  writes_ = &writes;
  for (Look* look : looks_) Limit(*look, writes);
  if (ends_.empty()) return;
  for (const auto& [key, value] : writes) {
    if (value.has_value()) Cut(key);
  }
}

void EmptyRanges::EndWrite() {
  const MutexLock lock(mutex_);
  for (Look* look : looks_) {
    if (std::exchange(look->may_miss_write_, false)) Limit(*look, *writes_);
  }
  writes_ = nullptr;
}

void EmptyRanges::Clear() {
  const MutexLock lock(mutex_);
  ends_.clear();
}

size_t EmptyRanges::size() const {
  const MutexLock lock(mutex_);
  return ends_.size();
}

void EmptyRanges::Limit(Look& look, const Writes& writes) {
  for (const auto& [key, value] : writes) {
    if (!value.has_value() || key < look.start_) continue;
    if (!look.limit_.has_value() || key < *look.limit_) look.limit_ = key;
  }
}

void EmptyRanges::Cut(const std::string& key) {
  const auto behind = ends_.upper_bound(key);
  if (behind == ends_.begin()) return;
  const auto range = std::prev(behind);
  if (range->second <= key) return;
  // The smallest key after another is that key with a zero byte appended.
  std::string rest = key + '\0';
  std::string end = std::exchange(range->second, key);
  if (!IsWide(range->first, range->second)) ends_.erase(range);
  if (IsWide(rest, end)) ends_.emplace(std::move(rest), std::move(end));
}

void EmptyRanges::Add(std::string from, std::string to) {
  auto next = ends_.upper_bound(from);
  if (next != ends_.begin() && std::prev(next)->second >= from) {
    --next;
    from = next->first;
  }
  while (next != ends_.end() && next->first <= to) {
    to = std::max(to, std::move(next->second));
    next = ends_.erase(next);
  }
  ends_.emplace(std::move(from), std::move(to));
}

}  // namespace ttl
