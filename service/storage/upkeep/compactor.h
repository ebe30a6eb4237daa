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
#include "service/storage/feed/feed_log.h"

namespace ttl {

// Compacts ranges with many tombstones, to free disk space after mass deletes and to speed up reads
// that pass them. It compacts
//
// - the front of an index family, below its low-water mark, after kMinErased erased keys: it
//   contains no existing key, so that is cheap; and in the same way the front of the log of a feed;
// - a whole range after as many erased keys as it has items, but at least kMinErased: then each
//   delete pays for about one existing item, and the disk holds at most about twice the size of the
//   existing items; the family of items that are set aside after kMinErased.
//
// Writes continue meanwhile. For one thread.
class Compactor {
 public:
  static constexpr int64_t kMinErased = 100'000;

  struct Parts {
    Database& database;
    const Catalog& catalog;
    const LowWaterMarks& marks;
    const Tallies& tallies;
    TombstoneCounts& tombstones;
    const FeedLog& feed_log;
  };

  // `parts` must outlive it.
  explicit Compactor(Parts parts) : parts_(parts) {}

  // Compacts one slice, for about a second or two. Returns whether there is more to do now.
  bool RunOnce();

 private:
  struct Range {
    std::string from;
    std::string to;
  };

  // The next range to compact; absent if there is none.
  std::optional<Range> Choose();
  std::string EndOfDropped(const std::string& events) const;
  int64_t LiveItems(const std::string& prefix) const;
  // The end of the slice that starts at the beginning of `range`.
  std::string SliceEnd(const Range& range) const;

  const Parts parts_;
  std::optional<Range> rest_;  // of the range that is being compacted
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_COMPACTOR_H_
