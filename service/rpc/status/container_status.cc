#include "service/rpc/status/container_status.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "service/base/proto_time.h"
#include "service/core/adoption.h"
#include "service/core/policy_effect.h"
#include "service/core/rate_limit.h"
#include "service/rpc/mapping/container_mapping.h"
#include "service/rpc/mapping/expiry_mapping.h"

namespace ttl {
namespace {

// The replaced policy that holds something back for longest, of those that pulled the
// brake or of those that did not. Null if none stands.
const ReplacedPolicy* LastToEnd(const Container& container, bool braked, absl::Time now) {
  const ReplacedPolicy* last = nullptr;
  for (const ReplacedPolicy& replaced : container.replaced_policies) {
    if (replaced.until <= now || replaced.braked_items.has_value() != braked) continue;
    if (last == nullptr || replaced.until > last->until) last = &replaced;
  }
  return last;
}

absl::Duration AgeOf(int64_t due_time, absl::Time now) {
  return std::max(absl::ZeroDuration(), now - absl::FromUnixSeconds(due_time));
}

void SetFailures(const DeleteRecord& record, v1::ContainerExpiryStatus& status) {
  std::vector<std::pair<std::string, int64_t>> failures(record.failures.begin(),
                                                        record.failures.end());
  std::sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (auto& [reason, count] : failures) {
    v1::FailureCount& failure = *status.add_failures();
    failure.set_reason(std::move(reason));
    failure.set_count(count);
  }
}

v1::BudgetStatus MakeBudgetStatus(const DeleteBudget& budget) {
  v1::BudgetStatus proto;
  proto.set_request_units_per_second(budget.request_units_per_second);
  if (budget.used_by_requests.has_value()) proto.set_used_by_requests(*budget.used_by_requests);
  proto.set_request_units_per_delete(budget.request_units_per_delete);
  proto.set_deletes_per_second(budget.deletes_per_second);
  return proto;
}

// Until when a stricter policy or adopted items are in their grace; in the past if none is.
absl::Time GraceEnd(const ContainerMoment& moment) {
  const Container& container = moment.container;
  const AdoptionTally& adopted = moment.tally.adopted;
  absl::Time end = absl::InfinitePast();
  if (const auto* grace = LastToEnd(container, /*braked=*/false, moment.now)) end = grace->until;
  if (adopted.left == 0 || AdoptionIsBraked(container, moment.now)) return end;
  return std::max(end, absl::FromUnixSeconds(AdoptionEnd(container, adopted.last_adopted_until)));
}

// What pulled the brake; no items if it is not pulled.
AdoptionBrake PulledBrake(const ContainerMoment& moment) {
  AdoptionBrake pulled = {0, absl::InfinitePast()};
  if (const auto* braked = LastToEnd(moment.container, /*braked=*/true, moment.now)) {
    pulled = {*braked->braked_items, braked->until};
  }
  if (moment.tally.adopted.left == 0 || !AdoptionIsBraked(moment.container, moment.now)) {
    return pulled;
  }
  const AdoptionBrake& adopted = *moment.container.adoption.brake;
  return {pulled.items + adopted.items, std::max(pulled.until, adopted.until)};
}

void SetHoldsOfPolicy(const ContainerMoment& moment, v1::ContainerExpiryStatus& status) {
  const Container& container = moment.container;
  if (container.pause.has_value()) *status.mutable_pause() = ToProto(*container.pause);
  if (const absl::Time end = GraceEnd(moment); end > moment.now) {
    *status.mutable_grace_until() = ToProto(end);
  }
  if (const AdoptionBrake pulled = PulledBrake(moment); pulled.until > moment.now) {
    status.mutable_brake()->set_newly_due_items(pulled.items);
    *status.mutable_brake()->mutable_until() = ToProto(pulled.until);
  }
}

void SetPace(const ContainerMoment& moment, v1::ContainerExpiryStatus& status) {
  const PaceView& pace = moment.sweep.pace;
  std::optional<double> allowed = StricterLimit(moment.limit_per_second, pace.bearable_per_second);
  if (moment.budget.has_value()) {
    allowed = StricterLimit(allowed, moment.budget->deletes_per_second);
    *status.mutable_budget() = MakeBudgetStatus(*moment.budget);
  }
  if (allowed.has_value()) status.set_allowed_deletes_per_second(*allowed);
  if (pace.bearable_per_second.has_value()) {
    status.set_push_back_deletes_per_second(*pace.bearable_per_second);
  }
  if (pace.held_until.has_value() && *pace.held_until > moment.now) {
    *status.mutable_held_until() = ToProto(*pace.held_until);
  }
}

void SetDeletes(const ContainerSweepView& sweep, v1::ContainerExpiryStatus& status) {
  *status.mutable_deletes() = ToProto(sweep.deletes.tally);
  *status.mutable_lateness() = ToProto(sweep.deletes.lateness);
  SetFailures(sweep.deletes, status);
  status.set_early_entries(sweep.early_entries);
  if (sweep.last_complete_pass_time.has_value()) {
    *status.mutable_last_complete_pass_time() = ToProto(*sweep.last_complete_pass_time);
  }
}

}  // namespace

std::optional<double> DeleteLimitOf(std::optional<double> own,
                                    std::optional<double> container_default,
                                    std::optional<double> overall) {
  return StricterLimit(own.has_value() ? own : container_default, overall);
}

v1::ItemCounts MakeItemCounts(const TallyView& tally, const Policy& policy, absl::Time now) {
  const ItemEstimate expired = CountExpired(tally.spread, policy, now);
  const ItemSum& counted = tally.spread.total();
  v1::ItemCounts counts;
  counts.set_tracked_items(tally.tracked.items);
  counts.set_tracked_bytes(tally.tracked.bytes);
  counts.set_live_items(counted.items - expired.sum.items);
  counts.set_live_bytes(counted.bytes - expired.sum.bytes);
  counts.set_expired_items(expired.sum.items);
  counts.set_expired_bytes(expired.sum.bytes);
  counts.set_error_bound_items(expired.error_bound_items);
  counts.set_complete(tally.complete);
  for (const int64_t items : ForecastPerHour(tally.spread, policy, now)) {
    counts.add_expiring_per_hour(items);
  }
  return counts;
}

v1::LatenessHistogram ToProto(const LatenessHistogram& histogram) {
  v1::LatenessHistogram proto;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    v1::LatenessBucket& bucket = *proto.add_buckets();
    bucket.set_count(histogram.counts[i]);
    if (i < LatenessHistogram::kUpperBounds.size()) {
      *bucket.mutable_at_most() = ToProto(LatenessHistogram::kUpperBounds[i]);
    }
  }
  *proto.mutable_sum() = ToProto(histogram.sum);
  return proto;
}

v1::ContainerExpiryStatus MakeContainerStatus(const ContainerMoment& moment) {
  v1::ContainerExpiryStatus status;
  status.set_container(moment.container.id);
  status.set_backlog(moment.backlog.count);
  status.set_backlog_is_lower_bound(moment.backlog.is_lower_bound);
  if (const auto& oldest = moment.backlog.oldest_due_time; oldest.has_value()) {
    *status.mutable_oldest_due_age() = ToProto(AgeOf(*oldest, moment.now));
  }
  AddHolds(moment.holds, *status.mutable_holds());
  SetHoldsOfPolicy(moment, status);
  SetPace(moment, status);
  SetDeletes(moment.sweep, status);
  status.set_failing_items(moment.failing_items);
  *status.mutable_index_progress() = IndexProgressOf(moment.container);
  *status.mutable_items() =
      MakeItemCounts(moment.tally, moment.container.settings.policy, moment.now);
  return status;
}

}  // namespace ttl
