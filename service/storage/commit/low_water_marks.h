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

// For each family of each index: a position before which there are no entries, except those of
// damaged items that a scan has skipped. Erased keys leave tombstones at the front of an index; a
// seek to its beginning would pass all of them, a seek to the mark does not, not even within one
// second. In memory: after a start the first scan finds each mark. Thread-safe.
class LowWaterMarks {
 public:
  // Time of the mark of a family known to be empty.
  static constexpr int64_t kEmpty = std::numeric_limits<int64_t>::max();

  // The mark. Its time is 0 for a family that was never scanned.
  IndexPlace Get(uint64_t index, IndexFamily family) const;

  // An entry was written. Returns whether that lowered the time of the mark.
  bool EntryWritten(uint64_t index, IndexFamily family, int64_t time, absl::string_view key);

  // A scan begins; call it before its cursor is created. Returns the mark.
  IndexPlace BeginScan(uint64_t index, IndexFamily family);

  // The last scan begun found no entry before `first` (with time kEmpty: none at all). Takes
  // entries written since it began into account. No effect if the index was forgotten meanwhile.
  void EndScan(uint64_t index, IndexFamily family, IndexPlace first);

  // Counts how often indexes were forgotten.
  uint64_t Generation() const;
  // As EndScan(). No effect, besides, if any index was forgotten since Generation() returned
  // `generation`: for what is found out only after the scan of a family, when that of another may
  // have made the index known again.
  void EndScanOf(uint64_t generation, uint64_t index, IndexFamily family, IndexPlace first);

  // Whether no index is known.
  bool IsEmpty() const;
  // Whether a scan of the index has begun since it was forgotten.
  bool Knows(uint64_t index) const;

  // The index was deleted.
  void Forget(uint64_t index);

  // Forgets all marks.
  void Clear();

 private:
  struct Mark {
    IndexPlace mark;
    IndexPlace written_since_scan_began = {kEmpty};
  };
  using Marks = std::array<Mark, kIndexFamilies>;
  static size_t Slot(IndexFamily family) { return static_cast<size_t>(family) - 1; }
  void RaiseTo(uint64_t index, IndexFamily family, IndexPlace first)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static bool IsBefore(int64_t time, absl::string_view key, const IndexPlace& place);

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Marks> marks_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_LOW_WATER_MARKS_H_
