#ifndef TTL_SERVICE_STORAGE_UPKEEP_HOUSEKEEPER_H_
#define TTL_SERVICE_STORAGE_UPKEEP_HOUSEKEEPER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/core/container.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/commit/pending_purges.h"
#include "service/storage/commit/record_cache.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/commit/tombstone_counts.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/feed_log.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/holds/hold_table.h"
#include "service/storage/upkeep/compactor.h"
#include "service/storage/upkeep/feed_keeper.h"
#include "service/storage/upkeep/hold_ender.h"

namespace ttl {

// Background work on the database, in bounded steps that all go through the commit queue; see
// Storage::RunHousekeeping(). For one thread.
class Housekeeper {
 public:
  struct Parts {
    Database& database;
    RecordCache& cache;
    Catalog& catalog;
    HoldTable& holds;
    FeedLog& feed_log;
    LowWaterMarks& marks;
    DueChanges& due_changes;
    UnannouncedMarks& unannounced;
    Tallies& tallies;
    TombstoneCounts& tombstones;
    PendingPurges& purges;
    CommitQueue& queue;
  };

  // `parts` must outlive it.
  explicit Housekeeper(Parts parts, std::function<void(absl::string_view)> warn);

  // Returns whether there is more to do now.
  bool RunOnce();

 private:
  // A deleted container or index, or a feed that was switched off.
  struct Purged {
    uint64_t number = 0;
    PurgeKind kind = PurgeKind::kIndex;
    std::vector<std::string> prefixes;  // of its keys
  };

  // The keys that one step of the purge erases.
  struct PurgeStep {
    std::vector<std::string> keys;
    std::vector<Purged> finished;  // no key of them is left
    uint64_t begun = 0;            // some are left of this one; 0: of none
  };

  absl::Status Recover();
  absl::StatusOr<bool> PurgeSome();
  std::vector<std::string> PrefixesOf(uint64_t number, PurgeKind kind) const;
  absl::StatusOr<PurgeStep> PlanPurge() const;
  absl::StatusOr<bool> BuildSome();
  absl::StatusOr<bool> CountSome();
  absl::Status CountInto(Transaction& transaction, const std::vector<uint64_t>& containers);
  // Logs the errors of this step, unless they are those of the last one.
  void Warn(std::vector<std::string> troubles);
  absl::Status BuildIndex(const Container& container);

  const Parts parts_;
  const std::function<void(absl::string_view)> warn_;

  Compactor compactor_;
  HoldEnder hold_ender_;
  FeedKeeper feed_keeper_;
  std::vector<std::string> troubles_;  // of the last step

  bool purges_loaded_ = false;  // the purge table of the database has been read

  // Where the purge of a number continues, so that it need not pass the keys it has erased.
  uint64_t purging_ = 0;
  std::string purge_from_;

  // The container whose items were counted last. If that failed, those behind it are counted first.
  uint64_t counting_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_HOUSEKEEPER_H_
