#ifndef TTL_SERVICE_EXPIRY_SWEEPER_H_
#define TTL_SERVICE_EXPIRY_SWEEPER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/core/guarded_clock.h"
#include "service/core/log_limiter.h"
#include "service/core/sweep_board.h"
#include "service/expiry/batch_limit.h"
#include "service/expiry/judged_batch.h"
#include "service/expiry/moment.h"
#include "service/expiry/primary_store_client.h"
#include "service/expiry/store_answers.h"
#include "service/expiry/store_state.h"
#include "service/expiry/token_bucket.h"
#include "service/storage/storage.h"
#include "spdlog/common.h"

namespace ttl {

struct SweeperOptions {
  // Most items of one DeleteItems. At least 1.
  int64_t batch_items = 500;

  // Time that a call to the store may take. Also how long a change of policy may have
  // to wait for deletes that are on their way.
  absl::Duration delete_deadline = absl::Seconds(5);

  // Most deletes per second over all containers, and of a container that sets no limit
  // of its own. Absent: no limit. 0: none.
  std::optional<double> max_deletes_per_second;
  std::optional<double> container_max_deletes_per_second;

  // With the store's clock further away from ours, deletes wait.
  absl::Duration max_store_clock_skew = absl::Seconds(60);
};

// Deletes expired items from the primary store, step by step. A step makes at most one
// call of DeleteItems, for the container whose turn it is, and returns what it did; the
// loop around it (BackgroundLoop) only waits. Containers come in turn, in the order of
// their ids; one that has to wait for the rate of all keeps its turn, one that has to
// wait for anything of its own is passed over.
//
// What keeps the promises:
// - Every item is judged again right before it is sent, by the policy read after the
//   delete gate was entered and at a time that our clocks and the store's agree upon.
// - Nothing is sent later than it was judged: the request carries a not_after, and there
//   is no queue. A pass through the gate whose deletes had no answer is kept until their
//   not_after has surely passed.
// - Tokens are taken when a batch is sent, whatever becomes of it.
// - Outcomes are committed before the next step.
//
// RunOnce() is for one thread. Destroy the sweeper when no change of policy can be
// acknowledged any more: the passes it keeps are given back then.
class Sweeper {
 public:
  // What one step did.
  struct StepResult {
    int64_t sent = 0;    // deletes
    int64_t tidied = 0;  // index entries moved or dropped as met
    // How long the next step may wait, if nothing becomes due earlier.
    absl::Duration wait;
  };

  // All references must outlive the sweeper. `system_clock` gives the steady time;
  // `store` may be null: then nothing is deleted, but the indexes are kept up.
  Sweeper(const SweeperOptions& options, const Clock& system_clock, const GuardedClock& clock,
          Storage& storage, PrimaryStoreClient* store, SweepBoard& board);

  // One bounded step: takes at most two calls to the store and some reading of the
  // indexes.
  StepResult RunOnce();

 private:
  // How fast one container may go, and what its calls came to. In memory only; times
  // are steady.
  struct Pacing {
    Pacing(TokenBucket tokens, int64_t batch_items) : bucket(tokens), batch_limit(batch_items) {}

    TokenBucket bucket;
    BatchLimit batch_limit;
    int64_t wanted = 1;  // deletes to have tokens for before the index is read
    bool waiting_for_rate = false;
    int64_t failures = 0;  // that led to a hold, in a row
    absl::Duration held_until = -absl::InfiniteDuration();
    absl::Duration next_upkeep = -absl::InfiniteDuration();
    absl::Duration next_full_scan;
    uint64_t round = 0;  // the last one that met it
  };

  // Deletes whose fate is not known: they may be carried out until `settled`.
  struct Unsettled {
    DeleteGate::Pass pass;
    absl::Duration settled;  // steady
  };

  // A container in its turn.
  struct Turn {
    Pacing& pacing;
    const Container& container;
    DueRule rule;
    bool full_scan;
  };

  enum class TurnEnd { kNothingSent, kSent };

  Moment ReadMoment();
  // The time to judge deletes by: none of our clocks, nor the store's, is behind it.
  absl::Time JudgeTime(const Moment& now) const;
  std::optional<double> RateOf(const Container& container) const;
  Pacing& PacingOf(const Container& container, const Moment& now);
  Turn MakeTurn(const Container& container, const Moment& now);

  void ReleaseSettledPasses();
  void RefreshStore();
  absl::Status CheckStoreIdentity(const std::string& store_id);

  void TakeTurns(StepResult& step);
  std::vector<ContainerPtr> NextContainers();
  void EndRound();
  void ForgetGoneContainers();
  TurnEnd TakeTurn(const Container& listed, StepResult& step);

  // Until something may be due; infinite if nothing will be.
  absl::Duration TimeUntilDue(const Turn& turn, const Moment& now) const;
  bool MaySend(const Turn& turn, bool entered, const Moment& now);
  bool HasTokens(const Turn& turn, int64_t count, const Moment& now);
  TurnEnd Sweep(const Turn& turn, DeleteGate::Pass pass, StepResult& step);
  int64_t MaxItems(const Turn& turn) const;
  void KeepUpIndex(const Turn& turn, StepResult& step);
  // Reads what is due, and tidies early entries as met. Absent if it cannot be read.
  std::optional<DueScan> Scan(const Turn& turn, int64_t max_due, StepResult& step);
  int64_t Tidy(const Container& container, std::vector<IndexEntry> early);

  void Send(const Turn& turn, const JudgedBatch& batch, DeleteGate::Pass pass, const Moment& now);
  void TakeResponse(const Turn& turn, const JudgedBatch& batch,
                    const v1::DeleteItemsResponse& response, const Moment& sent);
  void TakeCallError(const Turn& turn, const JudgedBatch& batch, const absl::Status& error);
  void TakeAnswers(const Turn& turn, StoreAnswers answers);

  void Hold(Pacing& pacing, absl::Duration first, absl::Duration most);
  void SetWaitingForRate(const Turn& turn, bool waiting);
  // The next step comes at this steady time at the latest.
  void WakeAt(absl::Duration steady);
  // Logs at most one line per kind and interval.
  void LogTrouble(spdlog::level::level_enum level, const std::string& kind,
                  const std::string& line);

  const SweeperOptions options_;
  const Clock& system_clock_;
  const GuardedClock& clock_;
  Storage& storage_;
  PrimaryStoreClient* const store_;
  SweepBoard& board_;

  absl::Duration steady_;  // the last sound reading
  StoreState store_state_;
  TokenBucket bucket_;                             // of all containers
  absl::flat_hash_map<uint64_t, Pacing> pacings_;  // by container number
  std::deque<Unsettled> unsettled_;                // by `settled`
  LogLimiter log_limiter_;

  // The round under way: containers have their turn once, in the order of their ids.
  // It begins where one had to keep its turn in the round before.
  uint64_t round_ = 1;
  bool round_is_whole_ = true;
  std::string first_;   // the container to go on with; empty: the one after cursor_
  std::string cursor_;  // the last container that had its turn
  std::string kept_;    // the first one that waits for tokens of all; empty: none
  absl::Duration wake_at_ = absl::InfiniteDuration();
  int64_t scans_left_ = 0;  // in this step
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEPER_H_
