#ifndef TTL_SERVICE_STORAGE_COMMIT_GRAVEYARD_H_
#define TTL_SERVICE_STORAGE_COMMIT_GRAVEYARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"
#include "service/storage/engine/database.h"

namespace ttl {

// Counts the keys erased from each range of the database that keys are erased from in
// masses: the items of a container, a family of an index. What is erased stays on disk,
// and in the way of every read, until a compaction comes over it. In memory: what was
// erased before a start is left to LevelDB's own compactions. Thread-safe.
class Graveyard {
 public:
  // One range, by the prefix of its keys.
  struct Plot {
    std::string prefix;
    int64_t erased = 0;           // since all of it was compacted
    int64_t erased_in_front = 0;  // since its front was, or all of it
  };

  // After a write: counts what it erased.
  void Bury(const WriteSet& writes);

  // Ranges from which at least `least` keys were erased since any compaction.
  std::vector<Plot> FindFull(int64_t least) const;

  // A compaction of its front, or of all of it, begins.
  void ClearFront(absl::string_view prefix);
  void Clear(absl::string_view prefix);

  // The ranges that begin with `prefix` are gone for good: forgets those from which less
  // than `least` keys were erased, which no compaction will be made for.
  void ForgetFew(absl::string_view prefix, int64_t least);

 private:
  struct Count {
    int64_t erased = 0;
    int64_t erased_in_front = 0;
  };

  mutable Mutex mutex_;
  absl::btree_map<std::string, Count> plots_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_GRAVEYARD_H_
