#ifndef TTL_SERVICE_EXPIRY_FEED_ANNOUNCER_H_
#define TTL_SERVICE_EXPIRY_FEED_ANNOUNCER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/item.h"
#include "service/core/state/feed_progress.h"
#include "service/expiry/feed/feed_judge.h"
#include "service/expiry/moment_reader.h"
#include "service/expiry/sweep/run_queue.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/storage.h"

namespace ttl {

// Announces, in the containers that have a feed, what expires: each item at its second, what will
// expire within the notice of its container, and what lives again after a change of policy. It only
// proposes: every item is judged again in the commit that logs its event. A step does a bounded
// amount of work; the loop around it (BackgroundLoop) only waits. Where no container has a feed it
// reads nothing. While the log of a container is full (FeedFigures::is_full), only revivals are
// announced there.
//
// Not thread-safe. It waits for commits.
class Announcer {
 public:
  // What one step did.
  struct StepResult {
    int64_t announced = 0;  // EXPIRED
    int64_t noticed = 0;    // EXPIRING
    int64_t revived = 0;    // REVIVED
    int64_t tidied = 0;     // index entries moved or erased because they were early
    // How long the next step may wait, unless it is woken.
    absl::Duration wait;
  };

  // All must outlive the announcer.
  struct Parts {
    Storage& storage;
    const FeedJudge& judge;
    MomentReader& moments;
    FeedProgress& progress;
  };

  explicit Announcer(const Parts& parts) : parts_(parts) {}

  StepResult RunOnce();

 private:
  // What is known of a container with a feed, in memory only.
  struct State {
    // Under which this was found out.
    uint64_t feed_number = 0;
    uint64_t index_number = 0;
    uint64_t policy_revision = 0;
    std::optional<int64_t> notice;

    bool is_complete = false;       // all of its index was looked at since
    int64_t noticed_until = 0;      // all items that expire by then, Unix seconds, were noticed
    std::optional<ItemKey> walked;  // by the walk for revived items; absent: at the beginning
    absl::Duration walk_again = -absl::InfiniteDuration();  // after an error of the walk, steady
    std::string problem;  // the error of the last slice; empty: none
  };

  // What a part of a slice left to do: more of the same, or the same again, since something changed
  // before it was announced.
  enum class Left { kNothing, kMore, kRetry };

  // What is to be done with items: Feed::Announce() or another.
  using Tell = void (Feed::*)(uint64_t, std::vector<AnnouncedItem>, Done<int64_t>);

  void WakeAfterClockStep(absl::Time judged_at, absl::Duration steady);
  void MeetChanged();
  void Meet(uint64_t number);
  void MeetAgain(const Container& container, State& state);
  void Forget(uint64_t number);
  void RunSlices(absl::Time judged_at, absl::Duration steady, StepResult& step);
  void RunSlice(uint64_t number, absl::Time judged_at, absl::Duration steady, StepResult& step);
  // Why nothing more may be logged of expiries, because of the gates of the container; empty if it
  // may.
  std::string ReasonOfFullLog(const Container& container) const;
  absl::StatusOr<Left> RunSliceOf(const Container& container, State& state, int64_t now,
                                  absl::Duration steady, StepResult& step);
  Left Walk(const Container& container, State& state, int64_t now, absl::Duration steady,
            StepResult& step);
  absl::StatusOr<Left> Revive(const Container& container, State& state, int64_t now,
                              StepResult& step);
  absl::StatusOr<Left> LogExpired(const Container& container, State& state, int64_t now,
                                  StepResult& step);
  absl::StatusOr<Left> LogExpiring(const Container& container, State& state, int64_t now,
                                   StepResult& step);
  // Announces and moves what a scan found. Returns whether it was all that.
  absl::StatusOr<bool> DealWith(const Container& container, UnannouncedScan& scan, Tell tell,
                                std::optional<int64_t> announced_until, int64_t& announced,
                                StepResult& step);
  absl::StatusOr<int64_t> Commit(const Container& container,
                                 const std::vector<UnannouncedItem>& items, Tell tell,
                                 std::optional<int64_t> announced_until);
  void LogUnreadable(const Container& container, int64_t items);
  void Cover(const Container& container, const State& state);
  absl::Duration NextRun(const Container& container, const State& state, absl::Time judged_at,
                         absl::Duration steady) const;
  absl::Duration Stall();
  absl::Duration SteadyNow() { return parts_.moments.Read().steady; }

  const Parts parts_;
  absl::flat_hash_map<uint64_t, State> states_;  // by container number
  RunQueue run_queue_;
  uint64_t cursor_ = 0;  // the container that ran last
  std::string stall_;    // as logged last
  // Our time minus steady time, when all containers were last woken, or the least since.
  absl::Duration clock_offset_ = absl::InfiniteDuration();
  TroubleLog log_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_FEED_ANNOUNCER_H_
