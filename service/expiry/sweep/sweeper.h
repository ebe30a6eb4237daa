#ifndef TTL_SERVICE_EXPIRY_SWEEP_SWEEPER_H_
#define TTL_SERVICE_EXPIRY_SWEEP_SWEEPER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "service/base/wake_signal.h"
#include "service/core/clock.h"
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/delete_limit.h"
#include "service/core/state/store_trust.h"
#include "service/core/state/sweep_board.h"
#include "service/core/state/usage_ledger.h"
#include "service/expiry/moment.h"
#include "service/expiry/pace/container_pace.h"
#include "service/expiry/pace/token_bucket.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/store/store_watch.h"
#include "service/expiry/sweep/agenda.h"
#include "service/expiry/sweep/delete_calls.h"
#include "service/expiry/sweep/delete_outcomes.h"
#include "service/expiry/sweep/judged_batch.h"
#include "service/expiry/sweep/suspects.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/storage.h"

namespace ttl {

struct SweeperOptions {
  // Most items of one DeleteItems. At least 1.
  int64_t batch_items = 500;

  // Most calls of DeleteItems under way at a time; at least 1. One container has one.
  int64_t max_calls_under_way = 4;

  // Time that a call to the store may take. Also how long a change of policy may have
  // to wait for deletes that are on their way.
  absl::Duration delete_deadline = absl::Seconds(5);

  // Most deletes per second of a container that sets no limit of its own. Absent: no
  // limit. 0: none.
  std::optional<double> container_max_deletes_per_second;

  // With the store's clock further away from ours, deletes wait.
  absl::Duration max_store_clock_skew = absl::Seconds(60);

  // So many answers of NOT_FOUND in a row, over all containers, put the store in doubt,
  // not counting those that may come from deletes of ours whose answer was lost. 0: never.
  int64_t not_found_burst_items = 1000;
};

// Deletes expired items from the primary store, step by step. A step takes in what the
// store has answered, sends at most one call of DeleteItems, for the container whose
// turn it is, and returns what it did; the loop around it (BackgroundLoop) only waits.
// Containers that have something due come in turn, in the order of their numbers; one
// that has to wait for the limit on all keeps its turn, one that has to wait for
// anything of its own is passed over. The others cost nothing: they are looked at when
// something becomes due in them.
//
// What keeps the promises:
// - Every item is judged again right before it is sent, by the policy read after the
//   delete gate was entered and at a time that our clocks and the store's agree upon.
// - Nothing is sent later than it was judged: the request carries a not_after, and there
//   is no queue. A pass through the gate whose deletes had no answer is kept until their
//   not_after has surely passed.
// - Tokens are taken when a batch is sent, whatever becomes of it.
// - Outcomes are committed before the container has its next turn.
//
// For one thread. Destroy the sweeper when no change of policy can be acknowledged any
// more: it waits for the calls under way and gives their passes back.
class Sweeper {
 public:
  // What one step did.
  struct StepResult {
    int64_t sent = 0;      // deletes
    int64_t answered = 0;  // calls whose end was taken in, of whatever kind
    int64_t tidied = 0;    // index entries moved or dropped as met
    // How long the next step may wait, if nothing is answered and nothing becomes due
    // earlier.
    absl::Duration wait;
  };

  // What it works on; all must outlive it. `system_clock` gives the steady time. `store`
  // may be null: then nothing is deleted, but the indexes are kept up. `wake` is
  // notified when an answer has come in.
  struct Parts {
    const Clock& system_clock;
    const GuardedClock& clock;
    Storage& storage;
    PrimaryStoreClient* store;
    SweepBoard& board;
    const UsageLedger& usage;
    const DeleteLimit& limit;
    StoreTrust& trust;
    WakeSignal& wake;
  };

  Sweeper(const SweeperOptions& options, const Parts& parts);

  // One bounded step: never waits for the store, and reads some of the indexes.
  StepResult RunOnce();

  // The first part of a step alone: takes in what has been answered.
  void TakeIn(StepResult& step);

  // Waits until a call under way has ended, for the next step to take in. Returns
  // whether there was one.
  bool AwaitCall();

 private:
  // What is kept of a container between its turns. In memory only; times are steady.
  struct Pacing {
    Pacing(int64_t batch_items, absl::Duration now)
        : pace(batch_items, now),
          suspects(static_cast<size_t>(std::max<int64_t>(batch_items, 2))) {}

    ContainerPace pace;
    Suspects suspects;
    PaceView posted;     // what the board shows
    int64_t wanted = 1;  // deletes to have tokens for before the index is read
    absl::Duration next_upkeep = -absl::InfiniteDuration();
    absl::Duration upkeep_interval;
    absl::Duration next_full_scan;
  };

  // A container in its turn.
  struct Turn {
    Pacing& pacing;
    ContainerPtr container;
    DueRule rule;
    bool full_scan;
  };

  // When a container wants its next turn, steady; now: as soon as it is its turn.
  struct NextTurn {
    absl::Duration at;
    bool sent = false;
  };

  void Post();
  Moment ReadMoment();
  Pacing& PacingOf(uint64_t container, const Moment& now);
  Turn MakeTurn(ContainerPtr container, Pacing& pacing, const Moment& now) const;

  void WakeAfterClockChange(const Moment& now);
  void WakeChanged();
  void TakeTurns(StepResult& step);
  // The container that kept its turn comes next, if there are tokens for it by now.
  void EndKeptTurn(absl::Duration now);
  // Until the next step, with nobody left who wants a turn now.
  absl::Duration TimeToWait();
  void Forget(uint64_t container);
  // Gives the container its turn, and puts it on the agenda. Returns whether it sent
  // something.
  bool TakeTurn(uint64_t number, StepResult& step);
  NextTurn TakeTurnOf(const ContainerPtr& listed, Pacing& pacing, const Moment& now,
                      StepResult& step);

  // When something may be due, steady; now if something is, and at most kMostSleep away.
  absl::Duration NextDue(const Turn& turn, const Moment& now) const;
  bool MaySend(const Turn& turn, bool entered, const Moment& now);
  // When there are tokens for `count` deletes; now if there are.
  absl::Duration TokensAt(const Turn& turn, int64_t count, const Moment& now);
  NextTurn Sweep(const Turn& turn, DeleteGate::Pass pass, StepResult& step);
  // Whether some of `due` are adopted and there are too many of those for the brake, which
  // is pulled then.
  bool HasTooManyAdopted(const Container& container, const std::vector<DueItem>& due,
                         const Moment& now);
  int64_t MaxItems(const Turn& turn) const;
  bool IsPassComplete(const Turn& turn, const DueScan& scan, absl::Time judged_at) const;
  // The turn of a container whose deletes are held.
  NextTurn KeepUpIndex(const Turn& turn, const Moment& now, StepResult& step);
  // Reads what is due, and tidies early entries as met. Absent if it cannot be read.
  std::optional<DueScan> Scan(const Turn& turn, int64_t max_due, StepResult& step);
  int64_t Tidy(const Container& container, std::vector<IndexEntry> early);
  void Send(const Turn& turn, JudgedBatch batch, DeleteGate::Pass pass, const Moment& now);

  // The end of a call.
  void TakeEnded(DeleteCall& call);

  void PostPace(const Container& container, Pacing& pacing, const Moment& now);

  const SweeperOptions options_;
  const Parts parts_;

  absl::Duration steady_;        // the last sound reading
  absl::Duration clock_offset_;  // our time minus the steady one, when containers were last woken
  bool deletes_were_allowed_ = true;
  StoreWatch store_;
  DeleteOutcomes outcomes_;
  DeleteCalls calls_;
  TokenBucket bucket_;                             // of all containers
  absl::flat_hash_map<uint64_t, Pacing> pacings_;  // by container number
  TroubleLog log_;

  Agenda agenda_;
  uint64_t cursor_ = 0;        // the container that had the last turn
  uint64_t kept_ = 0;          // the one that waits for tokens of all; 0: none
  absl::Duration kept_until_;  // when they are there, steady
  int64_t scans_left_ = 0;     // in this step
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_SWEEPER_H_
