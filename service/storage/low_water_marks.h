#ifndef TTL_SERVICE_STORAGE_LOW_WATER_MARKS_H_
#define TTL_SERVICE_STORAGE_LOW_WATER_MARKS_H_

#include <array>
#include <cstdint>
#include <limits>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "service/core/mutex.h"
#include "service/storage/expiry_index.h"

namespace ttl {

// Per index and family: a time below which there is no entry. Keys eaten from
// the front of an index leave tombstones, and a seek to its beginning would
// walk them all; a seek to the mark does not. In memory: after a start the first
// scan finds each mark. Thread-safe.
class LowWaterMarks {
 public:
  // Of a family known to be empty.
  static constexpr int64_t kEmpty = std::numeric_limits<int64_t>::max();

  // 0 for a family that was never scanned.
  int64_t Get(uint64_t index, IndexFamily family) const;

  // An entry has been written. Returns whether that lowered the mark.
  bool EntryWritten(uint64_t index, IndexFamily family, int64_t time);

  // A scan begins; call it before its cursor is made. Returns the mark.
  int64_t BeginScan(uint64_t index, IndexFamily family);

  // The scan begun last found no entry before `first` (kEmpty: none at all).
  // Entries written since it began are taken into account.
  void EndScan(uint64_t index, IndexFamily family, int64_t first);

  // The index is gone.
  void Forget(uint64_t index);

  // Nothing is known any more.
  void Clear();

 private:
  struct Mark {
    int64_t mark = 0;
    int64_t written_since_scan_began = kEmpty;
  };
  using Marks = std::array<Mark, 3>;
  static size_t Slot(IndexFamily family) { return static_cast<size_t>(family) - 1; }

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Marks> marks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_LOW_WATER_MARKS_H_
