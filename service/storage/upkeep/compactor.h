#ifndef TTL_SERVICE_STORAGE_UPKEEP_COMPACTOR_H_
#define TTL_SERVICE_STORAGE_UPKEEP_COMPACTOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/commit/tombstone_counts.h"
#include "service/storage/engine/database.h"

namespace ttl {

// Gives back what mass deletes leave on disk, and clears the way for the reads that come
// over it. It compacts
//  - the front of an index family, below its low-water mark, after kMinErased erased
//    keys: there is nothing alive in it, so that is cheap;
//  - all of a range after as many erased keys as there are items alive, but no fewer than
//    kMinErased: then each delete pays for about one live item, and the disk holds at
//    most about twice the live size.
// Writes go on meanwhile. For one thread.
class Compactor {
 public:
  static constexpr int64_t kMinErased = 100'000;

  struct Parts {
    Database& database;
    const Catalog& catalog;
    const LowWaterMarks& marks;
    const Tallies& tallies;
    TombstoneCounts& tombstones;
  };

  // `parts` must outlive it.
  explicit Compactor(Parts parts) : parts_(parts) {}

  // Compacts one slice of what is to be compacted: a second of work or two. Returns
  // whether there is more to do now.
  bool RunOnce();

 private:
  struct Range {
    std::string from;
    std::string to;
  };

  // The next range worth a compaction; absent if there is none.
  std::optional<Range> Choose();
  int64_t LiveItems(const std::string& prefix) const;
  // Where a slice from the beginning of `range` is to end.
  std::string SliceEnd(const Range& range) const;

  const Parts parts_;
  std::optional<Range> rest_;  // of the range that is being compacted
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_COMPACTOR_H_
