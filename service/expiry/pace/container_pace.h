#ifndef TTL_SERVICE_EXPIRY_PACE_CONTAINER_PACE_H_
#define TTL_SERVICE_EXPIRY_PACE_CONTAINER_PACE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "service/core/delete_budget.h"
#include "service/core/state/published_sweep.h"
#include "service/expiry/moment.h"
#include "service/expiry/pace/adaptive_rate.h"
#include "service/expiry/pace/batch_limit.h"
#include "service/expiry/pace/latency_watch.h"
#include "service/expiry/pace/token_bucket.h"

namespace ttl {

// The answer to a batch of deletes.
struct BatchAnswer {
  int64_t items = 0;
  int64_t deleted = 0;  // of those
  absl::Duration took;
  std::optional<double> cost = std::nullopt;  // request units; absent if the store did not say
  bool throttled = false;                     // some of them
  std::optional<absl::Duration> retry_after = std::nullopt;  // as the store asked
};

// A batch of deletes that failed as a whole.
struct BatchFailure {
  enum class Kind {
    kRefused,      // the store answered with an error that says nothing about its load
    kPushBack,     // the store is too busy
    kUnavailable,  // no answer: the store is too busy, or a connection broke
    kSlow,         // no answer within the deadline
  };
  int64_t items = 0;
  Kind kind = Kind::kRefused;
  std::optional<absl::Duration> retry_after = std::nullopt;  // as the store asked
  // Whether the items are now in Suspects, so that one of them may explain the failure.
  bool suspected = false;
};

// The pace of deletes in one container: the least of its limit, of the throughput that requests
// leave over, and of the rate that the store accepts, as learned from the results of its batches.
// Pure: time is an argument. Not thread-safe.
class ContainerPace {
 public:
  // How long deletes are held after a failed batch; doubled by each consecutive failure. Short if
  // the store refused the batch at once, longer if it may have spent time on it.
  static constexpr absl::Duration kFirstRefusedHold = absl::Milliseconds(100);
  static constexpr absl::Duration kMaxRefusedHold = absl::Seconds(1);
  static constexpr absl::Duration kFirstSlowHold = absl::Seconds(1);
  static constexpr absl::Duration kMaxSlowHold = absl::Seconds(5);
  // A longer retry_after of the store is cut to this.
  static constexpr absl::Duration kMaxRetryAfter = absl::Hours(1);

  // `max_items`, at least 1, bounds a batch.
  ContainerPace(int64_t max_items, absl::Duration now);

  // Sets the present limit (absent: none) and budget (absent: usage does not matter). Must be
  // called before MaxItems() and TimeUntil().
  void Update(std::optional<double> limit, const std::optional<DeleteBudget>& budget,
              absl::Duration now);

  // Maximum number of deletes in a batch; 0 if none are allowed.
  int64_t MaxItems() const;
  // How long until `count` deletes, at most MaxItems(), may be sent; see TokenBucket.
  absl::Duration TimeUntil(int64_t count, absl::Duration now);
  // REQUIRES: TimeUntil(count, now) is zero.
  void Take(int64_t count, absl::Duration now);

  // Records the answer to a batch. Slowness and throttled items count as push-back; a retry_after
  // is always honoured. Returns whether the store is slow.
  bool NoteAnswer(const BatchAnswer& answer, const Moment& now);

  // Records a batch that failed as a whole. Batches get smaller, unless this is the first of
  // consecutive failures and a suspected item explains it. All but kRefused count as push-back,
  // kUnavailable from the second consecutive failure on: if one answer in forty is lost, a cut for
  // each would leave next to no deletes.
  void NoteFailure(const BatchFailure& failure, const Moment& now);

  // Holds deletes for `first`, doubled by each consecutive failure, at most `most`.
  void Hold(absl::Duration first, absl::Duration most, const Moment& now);

  absl::Duration held_until() const { return held_until_; }  // steady
  // Whether deletes failed and none has succeeded since.
  bool in_trouble() const { return failures_ > 0; }
  // Measured cost of a delete in request units; absent before the store first reported one.
  std::optional<double> learned_cost() const { return learned_cost_; }
  void set_waiting_for_rate(bool waiting) { waiting_for_rate_ = waiting; }

  // For status and metrics.
  PaceView View(const Moment& now);

 private:
  void HoldFor(absl::Duration duration, const Moment& now);
  void LearnCost(int64_t count, double cost, absl::Duration now);

  TokenBucket bucket_;
  BatchLimit batch_limit_;
  AdaptiveRate bearable_;
  LatencyWatch latency_;
  std::optional<double> learned_cost_;
  double assumed_cost_ = 1;  // of a delete, in request units, when its tokens were taken
  bool budget_binds_ = false;

  bool waiting_for_rate_ = false;
  int64_t failures_ = 0;        // consecutive ones that led to a hold
  int64_t failed_batches_ = 0;  // consecutive ones
  absl::Duration held_until_ = -absl::InfiniteDuration();
  absl::Time held_until_time_;  // the same, for View()
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_CONTAINER_PACE_H_
