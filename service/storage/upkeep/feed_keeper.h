#ifndef TTL_SERVICE_STORAGE_UPKEEP_FEED_KEEPER_H_
#define TTL_SERVICE_STORAGE_UPKEEP_FEED_KEEPER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/feed_log.h"

namespace ttl {

// Keeps feeds within their bounds, in bounded steps: drops the oldest events of those that have
// events that are too old, or too many bytes of them; and counts the events after a start. While
// nothing may be judged (FeedMoment), the age of events does not count. For one thread.
class FeedKeeper {
 public:
  struct Parts {
    const Database& database;
    const Catalog& catalog;
    FeedLog& log;
    CommitQueue& queue;
  };

  // `parts` must outlive it.
  explicit FeedKeeper(const Parts& parts) : parts_(parts) {}

  // One step: some of the feeds, in turn, and a number of events. Reads nothing of feeds that are
  // counted and within their bounds. Returns whether there is more to do now: not just because
  // events become too old, or too many, all the time. Errors are those of reads and commits; one
  // feed's do not keep back the others. Damaged events are dropped with those around them, and
  // reported as DATA_LOSS.
  absl::StatusOr<bool> RunOnce();

 private:
  // What one step may still do.
  struct Budget {
    size_t events_to_drop;
    size_t events_to_count;

    bool is_used_up() const { return events_to_drop == 0 || events_to_count == 0; }
  };

  absl::Status CountSome(uint64_t feed, size_t& left);
  absl::Status PlanDrop(uint64_t feed, size_t& left, std::vector<FeedLog::Drop>& drops);
  // Adds to `drop` the events at the front that are too old or too many, at most `limit`.
  absl::Status ReadFront(const FeedLog::State& state, const FeedSettings& settings,
                         std::optional<absl::Time> now, size_t limit, FeedLog::Drop& drop) const;
  absl::Status Commit(const std::vector<FeedLog::Drop>& drops);

  const Parts parts_;
  uint64_t next_ = 0;  // the feed to go on with
  bool more_ = false;  // a step since the first feed was used up
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_FEED_KEEPER_H_
