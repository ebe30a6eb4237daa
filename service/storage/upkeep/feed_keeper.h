#ifndef TTL_SERVICE_STORAGE_UPKEEP_FEED_KEEPER_H_
#define TTL_SERVICE_STORAGE_UPKEEP_FEED_KEEPER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
// events that are too old, or too many bytes of them; counts the events after a start; and gives
// gates up (Subscription::give_up_after_seconds). While nothing may be judged (FeedMoment), the age
// of events does not count. Events that a gate has not passed stay, up to twice the bytes. For one
// thread.
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
    size_t events_to_pass;

    bool is_used_up() const {
      return events_to_drop == 0 || events_to_count == 0 || events_to_pass == 0;
    }
  };

  // What one step has found to commit.
  struct Plan {
    std::vector<FeedLog::Drop> drops;
    std::vector<FeedLog::Placed> placed;
    std::vector<std::pair<uint64_t, std::string>> raised;  // see FeedLog::TakeRaised()
    std::optional<int64_t> served_seconds;                 // to be stored

    bool is_empty() const {
      return drops.empty() && placed.empty() && raised.empty() && !served_seconds.has_value();
    }
  };

  // The log behind a gate was read; its next EXPIRED, behind `passed`, was logged long enough ago
  // at `until_served_seconds`, in serving time, to give the gate up for it.
  struct Wait {
    absl::Time create_time;  // of the gate
    uint64_t passed = 0;
    int64_t until_served_seconds = 0;
  };

  std::vector<std::pair<uint64_t, std::string>> TakeRaised();
  std::optional<int64_t> ServedSecondsToStore();
  absl::Status CountSome(uint64_t feed, size_t& left);
  absl::Status PlanDrop(uint64_t feed, size_t& left, std::vector<FeedLog::Drop>& drops);
  absl::Status PlanPlaces(uint64_t feed, size_t& left, std::vector<FeedLog::Placed>& placed);
  // Reads on from where `gate` stands.
  absl::StatusOr<FeedLog::GatePlace> ReadPlace(uint64_t feed, const FeedLog::Gate& gate,
                                               size_t& left, Wait& wait) const;
  // Adds to `drop` the events at the front that are too old or too many, at most `limit`.
  absl::Status ReadFront(const FeedLog::State& state, const FeedSettings& settings,
                         std::optional<absl::Time> now, size_t limit, FeedLog::Drop& drop) const;
  absl::Status Commit(const Plan& plan);
  static void Apply(const Plan& plan, const FeedLog& log, Transaction& transaction);

  const Parts parts_;
  uint64_t next_ = 0;  // the feed to go on with
  bool more_ = false;  // a step since the first feed was used up
  absl::flat_hash_map<std::pair<uint64_t, std::string>, Wait> waits_;  // by feed and gate
  std::vector<std::pair<uint64_t, std::string>> raised_;               // to be committed
  int64_t stored_served_seconds_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_FEED_KEEPER_H_
