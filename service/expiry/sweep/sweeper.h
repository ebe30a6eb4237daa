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
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/core/state/feed_progress.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/usage_meter.h"
#include "service/expiry/moment.h"
#include "service/expiry/moment_reader.h"
#include "service/expiry/pace/container_pace.h"
#include "service/expiry/pace/token_bucket.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/store/store_watch.h"
#include "service/expiry/sweep/delete_calls.h"
#include "service/expiry/sweep/delete_outcomes.h"
#include "service/expiry/sweep/judged_batch.h"
#include "service/expiry/sweep/run_queue.h"
#include "service/expiry/sweep/suspects.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/levers.h"
#include "service/storage/storage.h"

namespace ttl {

struct SweeperOptions {
  // Maximum items per DeleteItems call. At least 1.
  int64_t batch_items = 500;

  // Maximum DeleteItems calls in flight, at most one per container. At least 1.
  int64_t max_calls_under_way = 4;

  // Deadline of a call to the store. A policy change may have to wait this long for deletes in
  // flight.
  absl::Duration delete_deadline = absl::Seconds(5);

  // Maximum deletes per second of a container that sets no limit of its own. Absent: no limit.
  // 0: no deletes.
  std::optional<double> container_max_deletes_per_second;

  // Deletes are suspended while the store's clock differs from ours by more than this.
  absl::Duration max_store_clock_skew = absl::Seconds(60);

  // Suspend deletes after this many consecutive NOT_FOUND answers, over all containers, not
  // counting those that may come from deletes of ours whose answer was lost. 0: never.
  int64_t not_found_burst_items = 1000;
};

// Deletes expired items from the primary store, step by step. A step handles the calls that have
// ended and sends at most one batch. It returns what it did; the loop around it (BackgroundLoop)
// only waits.
//
// Containers with something due run in slices, round-robin by number. One that waits for the global
// limit is the next to run when its tokens are there; one that waits for anything of its own is
// passed over. The others cost nothing until something becomes due in them.
//
// What keeps the promises:
// - Every item is judged again right before it is sent, by the policy read after the delete gate
//   was entered, and at a time no later than our clocks and the store's. Whatever else stops
//   deletes is checked again, too. Nothing is read or committed between that and the sending.
// - A delete is not carried out later than it was judged for: the request carries a not_after, and
//   nothing below the sweeper queues or retries it. If a call has no answer, its pass through the
//   gate is kept until the not_after has surely passed.
// - Whether an item is held is asked after the delete gate was entered, of every item and every
//   time; placing a hold awaits the passes that are out (storage/holds.h).
// - Tokens are taken when a batch is sent, whatever its outcome.
// - Outcomes are committed before the next slice of the container.
// - In a container with a feed an item is sent, or set aside, only once its EXPIRED is committed.
// - In a container with gates an item is sent only if they let its EXPIRED pass, which is asked
//   after the delete gate was entered, of every item and every time; creating a gate awaits the
//   passes that are out (storage/feed.h).
//
// Not thread-safe. Destroy the sweeper only when policy changes can no longer be acknowledged: the
// destructor waits for the calls in flight and gives their passes back.
class Sweeper {
 public:
  // What one step did.
  struct StepResult {
    int64_t sent = 0;       // deletes
    int64_t found = 0;      // due items that the step then judged again, to send them
    int64_t answered = 0;   // calls that ended, GetStoreInfo included
    int64_t tidied = 0;     // index entries moved or erased because they were early
    int64_t announced = 0;  // due items whose expiry had not been announced in the feed
    // How long the next step may wait, unless a call ends or something becomes due earlier.
    absl::Duration wait;
  };

  // All must outlive the sweeper. `store` may be null: then nothing is deleted, but early index
  // entries are still moved. `wake` is notified when a call has ended.
  struct Parts {
    Storage& storage;
    PrimaryStoreClient* store;
    PublishedSweep& published;
    const UsageMeter& usage;
    Levers& levers;
    WakeSignal& wake;
    MomentReader& moments;
    // How far the feeds have announced expiries; null: not known.
    const FeedProgress* feed_progress = nullptr;
  };

  // Tokens are earned from now on.
  Sweeper(const SweeperOptions& options, const Parts& parts);

  // One bounded step. Waits for commits, but never for the store.
  StepResult RunOnce();

  // A part of a step alone: handles the calls that have ended.
  void TakeIn(StepResult& step);

  // Waits until a call has ended, for the next step to handle. Returns false at once if none has
  // and none is in flight.
  bool AwaitCall();

 private:
  Sweeper(const SweeperOptions& options, const Parts& parts, const Moment& now);

  // State of a container between its slices. In memory only; times are steady.
  struct Pacing {
    Pacing(int64_t batch_items, absl::Duration now)
        : pace(batch_items, now),
          suspects(static_cast<size_t>(std::max<int64_t>(batch_items, 2))) {}

    ContainerPace pace;
    Suspects suspects;
    bool after_slow = false;  // as in DeleteCall
    bool announced_nothing =
        false;           // although the last scan found unannounced items, or some not passed
    PaceView posted;     // as published last
    int64_t wanted = 1;  // read the index only once there are tokens for this many deletes
    // While the windows allow no deletes: when they do next, as far as the container may sleep.
    absl::Duration windows_open = -absl::InfiniteDuration();
    absl::Duration next_upkeep = -absl::InfiniteDuration();
    absl::Duration upkeep_interval;
    absl::Duration next_full_scan;
  };

  // A container while it runs. A slice reads one container's index and sends at most one batch.
  struct Slice {
    Pacing& pacing;
    ContainerPtr container;
    DueRule rule;
    bool full_scan;
  };

  // The due items that the scan of a slice found. The pass keeps the container's policy in force.
  struct Found {
    ContainerPtr container;
    DueScan scan;
    bool tidied;  // whether the scan moved early entries
    DeleteGate::Pass pass;
  };

  // How a slice ends: when the container is to run again, steady, which is `now` if it stays ready,
  // and what was sent, or is to be.
  struct NextSlice {
    absl::Duration at;
    bool sent = false;
    std::optional<Found> found = {};
  };

  void Post(const Moment& now);
  Pacing& PacingOf(uint64_t container, const Moment& now);
  Slice MakeSlice(ContainerPtr container, Pacing& pacing, const Moment& now) const;

  void WakeAfterClockChange(const Moment& now);
  void WakeChanged();
  void RunSlices(const Moment& now, StepResult& step);
  // Makes the container that waits for global tokens the next to run, once they are there.
  void ResumeHeadOfLine(absl::Duration now);
  // How long to wait for the next step when no container is ready.
  absl::Duration TimeToWait(absl::Duration now) const;
  void Forget(uint64_t container);
  // Runs the container, sends what it finds, and puts it back in the run queue.
  void RunSlice(uint64_t number, const Moment& now, StepResult& step);
  NextSlice RunSliceOf(const ContainerPtr& listed, Pacing& pacing, const Moment& now,
                       StepResult& step);
  void EndSlice(const Container& container, Pacing& pacing, const NextSlice& next,
                const Moment& now);

  // The earliest steady time at which something may be due, at most kMaxSleep from now.
  absl::Duration NextDue(const Slice& slice, const Moment& now) const;
  // Updates limits and pace. `entered`: whether the delete gate let the slice in.
  bool MaySend(const Slice& slice, bool entered, const Moment& now);
  // The steady time at which there are tokens for `count` deletes; `now` if there are.
  absl::Duration TokensAt(const Slice& slice, int64_t count, const Moment& now);
  // Looks for due items.
  NextSlice Find(const Slice& slice, DeleteGate::Pass pass, const Moment& now, StepResult& step);
  // Judges the batch, takes its tokens and sends it, if nothing has changed that stops deletes.
  NextSlice Send(const Slice& slice, Found found, const Moment& now, StepResult& step);
  // The slice of a container of which no item may be deleted now.
  NextSlice EndEmpty(const Slice& slice, const DueScan& scan, bool tidied, const Moment& now);
  // Whether `due` has adopted items and the container has more of those than the brake allows; if
  // so, pulls the brake.
  bool HasTooManyAdopted(const Container& container, const std::vector<DueItem>& due,
                         const Moment& now);
  int64_t MaxItems(const Slice& slice) const;
  bool IsPassComplete(const Slice& slice, const DueScan& scan, absl::Time judged_at) const;
  // The slice of a container whose deletes are held.
  NextSlice KeepUpIndex(const Slice& slice, const Moment& now, StepResult& step);
  // Reads the due items and moves early entries. Absent if the index cannot be read.
  // `is_held`: whether the deletes of the container are.
  std::optional<DueScan> Scan(const Slice& slice, int64_t max_due, bool is_held, const Moment& now,
                              StepResult& step);
  int64_t Tidy(const Container& container, std::vector<IndexEntry> early, const Moment& now);
  // Takes the items out of the scan whose expiry is not announced in the feed of the container.
  // Unless the deletes of the container are held, tells them, for the next scan. Returns false if
  // that could not be committed.
  bool TakeOutUnannounced(const Slice& slice, bool is_held, DueScan& scan, const Moment& now,
                          StepResult& step);
  // Instead of that, where the feed has gates: takes the items out of the scan that those do not
  // let pass, and, unless the deletes of the container are held, out of the way of later ones,
  // telling them where needed.
  bool TakeOutGated(const Slice& slice, const GateView& gates, bool is_held, DueScan& scan,
                    const Moment& now, StepResult& step);
  bool SetAsideGated(const Slice& slice, std::vector<GatedItem> gated, DueScan& scan,
                     const Moment& now, StepResult& step);
  // The same for items that have got so far: a last look before they are sent.
  bool KeepPassed(const Container& container, DueScan& scan) const;
  bool AnnounceItems(const Slice& slice, std::vector<AnnouncedItem> unannounced, DueScan& scan,
                     const Moment& now, StepResult& step);
  // Takes the due items that are held out of the scan, and out of the way of later ones. Returns
  // false if these could not be committed.
  bool TakeOutHeld(const Slice& slice, DueScan& scan, const Moment& now, StepResult& step);
  bool SetAside(const Container& container, std::vector<HeldItem> held, DueScan& scan,
                const Moment& now, StepResult& step);
  void EndReachedHolds(const Moment& now);
  void SendCall(const Slice& slice, JudgedBatch batch, DeleteGate::Pass pass, const Moment& now);

  void TakeEnded(DeleteCall& call, const Moment& now);

  void PostPace(const Container& container, Pacing& pacing, const Moment& now);

  const SweeperOptions options_;
  const Parts parts_;

  absl::Duration clock_offset_;  // our time minus steady time, when all containers were last woken
  bool deletes_were_allowed_ = true;
  StoreWatch store_;
  DeleteOutcomes outcomes_;
  DeleteCalls calls_;
  TokenBucket bucket_;                             // of all containers
  absl::flat_hash_map<uint64_t, Pacing> pacings_;  // by container number
  TroubleLog log_;

  RunQueue run_queue_;
  uint64_t cursor_ = 0;                // the container that ran last
  uint64_t head_of_line_ = 0;          // the container that waits for global tokens; 0: none
  absl::Duration head_of_line_until_;  // when they are available, steady
  int64_t scans_left_ = 0;             // in this step
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_SWEEPER_H_
