#ifndef TTL_SERVICE_EXPIRY_PACE_CONTAINER_PACE_H_
#define TTL_SERVICE_EXPIRY_PACE_CONTAINER_PACE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "service/core/delete_budget.h"
#include "service/core/state/sweep_board.h"
#include "service/expiry/moment.h"
#include "service/expiry/pace/adaptive_rate.h"
#include "service/expiry/pace/batch_limit.h"
#include "service/expiry/pace/latency_watch.h"
#include "service/expiry/pace/token_bucket.h"

namespace ttl {

// A batch of deletes that was answered.
struct BatchAnswer {
  int64_t items = 0;
  int64_t deleted = 0;  // of those
  absl::Duration took;
  std::optional<double> cost = std::nullopt;  // request units; absent if the store did not say
  bool throttled = false;                     // some of them
  std::optional<absl::Duration> retry_after = std::nullopt;  // the store's wish
};

// A batch of deletes that failed as a whole.
struct BatchFailure {
  enum class Kind {
    kRefused,   // the store answered, at once, that it would not
    kPushBack,  // the store is too busy
    kSlow,      // no answer within the deadline
  };
  int64_t items = 0;
  Kind kind = Kind::kRefused;
  std::optional<absl::Duration> retry_after = std::nullopt;  // the store's wish
  // Whether one of its items is suspected, and kept apart from now on.
  bool suspected = false;
};

// How fast deletes of one container may go: by its limit, by what requests leave over,
// and by what the store bears, as learned from what became of its batches. Pure: time
// is an argument. Not thread-safe.
class ContainerPace {
 public:
  // Holds after a batch, growing with failures in a row: short ones if the store
  // refused it, longer ones if it cost the store's time.
  static constexpr absl::Duration kFirstRefusedHold = absl::Milliseconds(100);
  static constexpr absl::Duration kMostRefusedHold = absl::Seconds(1);
  static constexpr absl::Duration kFirstSlowHold = absl::Seconds(1);
  static constexpr absl::Duration kMostSlowHold = absl::Seconds(5);
  // The longest wish of a store that is honoured.
  static constexpr absl::Duration kMostRetryAfter = absl::Hours(1);

  // `most_items`, at least 1: of a batch.
  ContainerPace(int64_t most_items, absl::Duration now);

  // Takes the limit (absent: none) and the budget (absent: usage does not matter) of
  // now into account. To be called before the tokens are looked at.
  void Update(std::optional<double> limit, const std::optional<DeleteBudget>& budget,
              absl::Duration now);

  // Most deletes of a batch; 0 if none are allowed.
  int64_t MaxItems() const;
  // Until `count` deletes, at most MaxItems(), may be sent; see TokenBucket.
  absl::Duration TimeUntil(int64_t count, absl::Duration now);
  // REQUIRES: TimeUntil(count, now) is zero.
  void Take(int64_t count, absl::Duration now);

  // A batch was answered. A store that is slow, or that throttled some of it, pushes back; its
  // wish is kept to in any case. Returns whether it is slow.
  bool NoteAnswer(const BatchAnswer& answer, const Moment& now);

  // A batch failed as a whole. Batches get smaller, unless this is the first failure in a row
  // and a suspected item explains it.
  void NoteFailure(const BatchFailure& failure, const Moment& now);

  // No deletes for a time that grows with failures in a row.
  void Hold(absl::Duration first, absl::Duration most, const Moment& now);

  absl::Duration held_until() const { return held_until_; }  // steady
  // Whether its last batch failed.
  bool in_trouble() const { return failures_ > 0; }
  // What a delete was seen to cost; absent before the store said so.
  std::optional<double> learned_cost() const { return learned_cost_; }
  void set_waiting_for_rate(bool waiting) { waiting_for_rate_ = waiting; }

  // For people.
  PaceView View(const Moment& now);

 private:
  void HoldFor(absl::Duration duration, const Moment& now);
  void LearnCost(int64_t count, double cost, absl::Duration now);

  TokenBucket bucket_;
  BatchLimit batch_limit_;
  AdaptiveRate bearable_;
  LatencyWatch latency_;
  std::optional<double> learned_cost_;
  double assumed_cost_ = 1;  // of a delete when its tokens were taken
  bool budget_binds_ = false;

  bool waiting_for_rate_ = false;
  int64_t failures_ = 0;        // that led to a hold, in a row
  int64_t failed_batches_ = 0;  // in a row
  absl::Duration held_until_ = -absl::InfiniteDuration();
  absl::Time held_until_time_;  // the same, for people
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_CONTAINER_PACE_H_
