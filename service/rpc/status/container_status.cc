#include "service/rpc/status/container_status.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "service/base/proto_time.h"
#include "service/core/adoption.h"
#include "service/core/policy_effect.h"
#include "service/rpc/mapping/container_mapping.h"
#include "service/rpc/mapping/expiry_mapping.h"
#include "service/rpc/mapping/hold_mapping.h"

namespace ttl {
namespace {

// The replaced policy in force that ends last, of those that pulled the brake or of those that did
// not. Null if there is none.
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

// When the last grace of a stricter policy or of adopted items ends; in the past if there is none.
absl::Time GraceEnd(const ContainerSnapshot& snapshot) {
  const Container& container = snapshot.container;
  const AdoptionTally& adopted = snapshot.tally.adopted;
  absl::Time end = absl::InfinitePast();
  if (const auto* grace = LastToEnd(container, /*braked=*/false, snapshot.now)) end = grace->until;
  if (adopted.left == 0 || AdoptionIsBraked(container, snapshot.now)) return end;
  return std::max(end, absl::FromUnixSeconds(AdoptionEnd(container, adopted.last_adopted_until)));
}

// The items that the pulled brake holds back; none if it is not pulled.
AdoptionBrake PulledBrake(const ContainerSnapshot& snapshot) {
  AdoptionBrake pulled = {0, absl::InfinitePast()};
  if (const auto* braked = LastToEnd(snapshot.container, /*braked=*/true, snapshot.now)) {
    pulled = {*braked->braked_items, braked->until};
  }
  if (snapshot.tally.adopted.left == 0 || !AdoptionIsBraked(snapshot.container, snapshot.now)) {
    return pulled;
  }
  const AdoptionBrake& adopted = *snapshot.container.adoption.brake;
  return {pulled.items + adopted.items, std::max(pulled.until, adopted.until)};
}

void SetHoldsOfPolicy(const ContainerSnapshot& snapshot, v1::ContainerExpiryStatus& status) {
  const Container& container = snapshot.container;
  if (container.pause.has_value()) *status.mutable_pause() = ToProto(*container.pause);
  if (const absl::Time end = GraceEnd(snapshot); end > snapshot.now) {
    *status.mutable_grace_until() = ToProto(end);
  }
  if (const AdoptionBrake pulled = PulledBrake(snapshot); pulled.until > snapshot.now) {
    status.mutable_brake()->set_newly_due_items(pulled.items);
    *status.mutable_brake()->mutable_until() = ToProto(pulled.until);
  }
}

void SetPace(const ContainerSnapshot& snapshot, v1::ContainerExpiryStatus& status) {
  const PaceView& pace = snapshot.sweep.pace;
  const DeleteRates& rates = snapshot.rates;
  const std::optional<double> allowed = rates.Allowed(pace.bearable_per_second);
  if (rates.budget.has_value()) *status.mutable_budget() = MakeBudgetStatus(*rates.budget);
  if (allowed.has_value()) status.set_allowed_deletes_per_second(*allowed);
  if (pace.bearable_per_second.has_value()) {
    status.set_push_back_deletes_per_second(*pace.bearable_per_second);
  }
  if (pace.held_until.has_value() && *pace.held_until > snapshot.now) {
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

v1::ItemCounts MakeItemCounts(const TallyView& tally, const Policy& policy, absl::Time now) {
  const ItemEstimate expired = CountExpired(tally.histogram, policy, now);
  const ItemSum& counted = tally.histogram.total();
  v1::ItemCounts counts;
  counts.set_tracked_items(tally.tracked.items);
  counts.set_tracked_bytes(tally.tracked.bytes);
  counts.set_live_items(counted.items - expired.sum.items);
  counts.set_live_bytes(counted.bytes - expired.sum.bytes);
  counts.set_expired_items(expired.sum.items);
  counts.set_expired_bytes(expired.sum.bytes);
  counts.set_error_bound_items(expired.error_bound_items);
  counts.set_complete(tally.complete);
  for (const int64_t items : ForecastPerHour(tally.histogram, policy, now)) {
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

v1::ContainerExpiryStatus MakeContainerStatus(const ContainerSnapshot& snapshot) {
  v1::ContainerExpiryStatus status;
  status.set_container(snapshot.container.id);
  status.set_backlog(snapshot.backlog.count);
  status.set_backlog_is_lower_bound(snapshot.backlog.is_lower_bound);
  status.set_backlog_problem(std::string(snapshot.backlog_problem));
  if (const auto& oldest = snapshot.backlog.oldest_due_time; oldest.has_value()) {
    *status.mutable_oldest_due_age() = ToProto(AgeOf(*oldest, snapshot.now));
  }
  AddHolds(snapshot.holds, *status.mutable_holds());
  SetHoldsOfPolicy(snapshot, status);
  SetPace(snapshot, status);
  SetDeletes(snapshot.sweep, status);
  status.set_failing_items(snapshot.failing_items);
  const v1::HoldCounts hold_counts = ToProto(snapshot.hold_counts);
  if (hold_counts.ByteSizeLong() > 0) *status.mutable_hold_counts() = hold_counts;
  *status.mutable_index_progress() = IndexProgressOf(snapshot.container);
  *status.mutable_items() =
      MakeItemCounts(snapshot.tally, snapshot.container.settings.policy, snapshot.now);
  return status;
}

}  // namespace ttl
