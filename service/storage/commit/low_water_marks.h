#ifndef TTL_SERVICE_STORAGE_COMMIT_LOW_WATER_MARKS_H_
#define TTL_SERVICE_STORAGE_COMMIT_LOW_WATER_MARKS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"
#include "service/storage/format/index_entry.h"

namespace ttl {

// Per index and family: a place before which there is no entry, but perhaps such of damaged
// items, which a scan has passed over. Keys eaten from
// the front of an index leave tombstones, and a seek to its beginning would
// walk them all; a seek to the mark does not, not even within one second. In memory:
// after a start the first scan finds each mark. Thread-safe.
class LowWaterMarks {
 public:
  // Time of the mark of a family known to be empty.
  static constexpr int64_t kEmpty = std::numeric_limits<int64_t>::max();

  // Time 0 for a family that was never scanned.
  IndexPlace Get(uint64_t index, IndexFamily family) const;

  // An entry has been written. Returns whether that lowered the time of the mark.
  bool EntryWritten(uint64_t index, IndexFamily family, int64_t time, absl::string_view key);

  // A scan begins; call it before its cursor is made. Returns the mark.
  IndexPlace BeginScan(uint64_t index, IndexFamily family);

  // The scan begun last found no entry before `first` (of time kEmpty: none at all).
  // Entries written since it began are taken into account. No effect if the index was
  // forgotten meanwhile.
  void EndScan(uint64_t index, IndexFamily family, IndexPlace first);

  // The index is gone.
  void Forget(uint64_t index);

  // Nothing is known any more.
  void Clear();

 private:
  struct Mark {
    IndexPlace mark;
    IndexPlace written_since_scan_began = {kEmpty};
  };
  using Marks = std::array<Mark, kIndexFamilies>;
  static size_t Slot(IndexFamily family) { return static_cast<size_t>(family) - 1; }
  static bool IsBefore(int64_t time, absl::string_view key, const IndexPlace& place);

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Marks> marks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_LOW_WATER_MARKS_H_
