#ifndef TTL_SERVICE_STORAGE_COMMIT_TOMBSTONE_COUNTS_H_
#define TTL_SERVICE_STORAGE_COMMIT_TOMBSTONE_COUNTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"
#include "service/storage/engine/database.h"

namespace ttl {

// Counts the tombstones in each range of the database from which many keys are erased: the items of
// a container, a family of an index, and the events of a feed. An erased key stays on disk and
// slows down every read that passes it until the range is compacted. The counts are in memory only;
// tombstones from before a start are left to LevelDB's own compactions. Thread-safe.
class TombstoneCounts {
 public:
  // One range, by the prefix of its keys.
  struct Range {
    std::string prefix;
    int64_t erased = 0;           // keys, since the whole range was compacted
    int64_t erased_in_front = 0;  // keys, since its front or the whole range was compacted
  };

  // Counts the keys that a completed write erased.
  void AddErased(const WriteSet& writes);

  // Ranges from which at least `least` keys were erased since their last compaction of any kind.
  std::vector<Range> FindAtLeast(int64_t least) const;

  // A compaction of the front of the range, or of the whole range, begins.
  void ClearFront(absl::string_view prefix);
  void Clear(absl::string_view prefix);

  // Nothing is written to the ranges that begin with `prefix` any more: forgets those from which
  // fewer than `least` keys were erased, because they will not be compacted.
  void ForgetFew(absl::string_view prefix, int64_t least);

 private:
  struct Count {
    int64_t erased = 0;
    int64_t erased_in_front = 0;
  };

  mutable Mutex mutex_;
  absl::btree_map<std::string, Count> ranges_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_TOMBSTONE_COUNTS_H_
