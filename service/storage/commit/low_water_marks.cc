#include "service/storage/commit/low_water_marks.h"

#include <algorithm>
#include <utility>

namespace ttl {

IndexPlace LowWaterMarks::Get(uint64_t index, IndexFamily family) const {
  MutexLock lock(mutex_);
  const auto it = marks_.find(index);
  return it == marks_.end() ? IndexPlace() : it->second[Slot(family)].mark;
}

bool LowWaterMarks::IsBefore(int64_t time, absl::string_view key, const IndexPlace& place) {
  return time < place.time || (time == place.time && key < place.key);
}

bool LowWaterMarks::EntryWritten(uint64_t index, IndexFamily family, int64_t time,
                                 absl::string_view key) {
  MutexLock lock(mutex_);
  Mark& mark = marks_[index][Slot(family)];
  if (IsBefore(time, key, mark.written_since_scan_began)) {
    mark.written_since_scan_began = {time, std::string(key)};
  }
  if (!IsBefore(time, key, mark.mark)) return false;
  const bool earlier = time < mark.mark.time;
  mark.mark = {time, std::string(key)};
  return earlier;
}

IndexPlace LowWaterMarks::BeginScan(uint64_t index, IndexFamily family) {
  MutexLock lock(mutex_);
  Mark& mark = marks_[index][Slot(family)];
  mark.written_since_scan_began = {kEmpty};
  return mark.mark;
}

void LowWaterMarks::EndScan(uint64_t index, IndexFamily family, IndexPlace first) {
  MutexLock lock(mutex_);
  RaiseTo(index, family, std::move(first));
}

uint64_t LowWaterMarks::Generation() const {
  MutexLock lock(mutex_);
  return generation_;
}

void LowWaterMarks::EndScanOf(uint64_t generation, uint64_t index, IndexFamily family,
                              IndexPlace first) {
  MutexLock lock(mutex_);
  if (generation == generation_) RaiseTo(index, family, std::move(first));
}

void LowWaterMarks::RaiseTo(uint64_t index, IndexFamily family, IndexPlace first) {
  const auto it = marks_.find(index);
  if (it == marks_.end()) return;  // what the scan began from is not known any more
  Mark& mark = it->second[Slot(family)];
  mark.mark = std::min(std::move(first), mark.written_since_scan_began);
}

bool LowWaterMarks::IsEmpty() const {
  MutexLock lock(mutex_);
  return marks_.empty();
}

bool LowWaterMarks::Knows(uint64_t index) const {
  MutexLock lock(mutex_);
  return marks_.contains(index);
}

void LowWaterMarks::Forget(uint64_t index) {
  MutexLock lock(mutex_);
  marks_.erase(index);
  ++generation_;
}

void LowWaterMarks::Clear() {
  MutexLock lock(mutex_);
  marks_.clear();
  ++generation_;
}

}  // namespace ttl
