#include "service/storage/low_water_marks.h"

#include <algorithm>

namespace ttl {

int64_t LowWaterMarks::Get(uint64_t index, IndexFamily family) const {
  MutexLock lock(mutex_);
  const auto it = marks_.find(index);
  return it == marks_.end() ? 0 : it->second[Slot(family)].mark;
}

bool LowWaterMarks::EntryWritten(uint64_t index, IndexFamily family, int64_t time) {
  MutexLock lock(mutex_);
  Mark& mark = marks_[index][Slot(family)];
  mark.written_since_scan_began = std::min(mark.written_since_scan_began, time);
  if (time >= mark.mark) return false;
  mark.mark = time;
  return true;
}

int64_t LowWaterMarks::BeginScan(uint64_t index, IndexFamily family) {
  MutexLock lock(mutex_);
  Mark& mark = marks_[index][Slot(family)];
  mark.written_since_scan_began = kEmpty;
  return mark.mark;
}

void LowWaterMarks::EndScan(uint64_t index, IndexFamily family, int64_t first) {
  MutexLock lock(mutex_);
  Mark& mark = marks_[index][Slot(family)];
  mark.mark = std::min(first, mark.written_since_scan_began);
}

void LowWaterMarks::Forget(uint64_t index) {
  MutexLock lock(mutex_);
  marks_.erase(index);
}

void LowWaterMarks::Clear() {
  MutexLock lock(mutex_);
  marks_.clear();
}

}  // namespace ttl
