#include "service/expiry/pace/container_pace.h"

#include <algorithm>
#include <cmath>

#include "service/core/delete_rates.h"
#include "service/expiry/pace/retry_delay.h"

namespace ttl {
namespace {

// Weight of the newest batch in the average cost of a delete.
constexpr double kCostShare = 0.2;

}  // namespace

ContainerPace::ContainerPace(int64_t max_items, absl::Duration now)
    : bucket_(std::nullopt, now, max_items), batch_limit_(max_items) {}

void ContainerPace::Update(std::optional<double> limit, const std::optional<DeleteBudget>& budget,
                           absl::Duration now) {
  std::optional<double> rate = StricterLimit(limit, bearable_.Get(now));
  budget_binds_ = budget.has_value() && !(rate.has_value() && *rate < budget->deletes_per_second);
  if (budget_binds_) {
    rate = budget->deletes_per_second;
    assumed_cost_ = budget->request_units_per_delete;
  }
  bucket_.SetRate(rate, now);
}

int64_t ContainerPace::MaxItems() const {
  return std::min(batch_limit_.Get(), bucket_.BatchSize());
}

absl::Duration ContainerPace::TimeUntil(int64_t count, absl::Duration now) {
  return bucket_.TimeUntil(std::min(count, bucket_.BatchSize()), now);
}

void ContainerPace::Take(int64_t count, absl::Duration now) {
  bucket_.Take(count, now);
  bearable_.NoteSent(count, now);
}

bool ContainerPace::NoteAnswer(const BatchAnswer& answer, const Moment& now) {
  if (answer.cost.has_value() && std::isfinite(*answer.cost) && *answer.cost >= 0) {
    LearnCost(answer.items, *answer.cost, now.steady);
  }
  failed_batches_ = 0;
  bearable_.NoteDeleted(answer.deleted, now.steady);
  const bool slow = latency_.IsSlow(answer.items, answer.took, now.steady);
  if (slow || answer.throttled) bearable_.PushBack(now.steady);
  if (answer.retry_after.has_value()) HoldFor(*answer.retry_after, now);
  if (answer.throttled) {
    if (!answer.retry_after.has_value()) Hold(kFirstRefusedHold, kMaxRefusedHold, now);
    return slow;
  }
  failures_ = 0;
  batch_limit_.Grow();
  return slow;
}

void ContainerPace::NoteFailure(const BatchFailure& failure, const Moment& now) {
  using Kind = BatchFailure::Kind;
  ++failed_batches_;
  if (!failure.suspected || failed_batches_ > 1) batch_limit_.Shrink(failure.items);
  const bool is_lone = failure.kind == Kind::kUnavailable && failed_batches_ == 1;
  if (failure.kind != Kind::kRefused && !is_lone) bearable_.PushBack(now.steady);
  if (failure.retry_after.has_value()) HoldFor(*failure.retry_after, now);
  if (failure.kind == Kind::kSlow) {
    Hold(kFirstSlowHold, kMaxSlowHold, now);
  } else if (failure.kind != Kind::kRefused || failure.items == 1) {
    Hold(kFirstRefusedHold, kMaxRefusedHold, now);
  }
}

void ContainerPace::Hold(absl::Duration first, absl::Duration most, const Moment& now) {
  ++failures_;
  HoldFor(GrowingDelay(failures_, first, most), now);
}

PaceView ContainerPace::View(const Moment& now) {
  PaceView view;
  view.waiting_for_rate = waiting_for_rate_;
  if (held_until_ > now.steady) view.held_until = held_until_time_;
  view.bearable_per_second = bearable_.Get(now.steady);
  view.learned_cost = learned_cost_;
  return view;
}

void ContainerPace::HoldFor(absl::Duration duration, const Moment& now) {
  duration = std::clamp(duration, absl::ZeroDuration(), kMaxRetryAfter);
  if (now.steady + duration <= held_until_) return;
  held_until_ = now.steady + duration;
  held_until_time_ = now.time.for_deletes + duration;
}

void ContainerPace::LearnCost(int64_t count, double cost, absl::Duration now) {
  const double per_delete = cost / static_cast<double>(count);
  learned_cost_ = learned_cost_.has_value()
                      ? *learned_cost_ + (per_delete - *learned_cost_) * kCostShare
                      : per_delete;
  // The tokens taken covered the assumed cost only.
  if (budget_binds_) bucket_.Charge(cost / assumed_cost_ - static_cast<double>(count), now);
}

}  // namespace ttl
