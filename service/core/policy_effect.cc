#include "service/core/policy_effect.h"

#include <algorithm>

#include "service/core/due_rules.h"

namespace ttl {
namespace {

// When items are due by `policy` alone.
DueRule DueRuleOf(const Policy& policy) { return ComputeDueRule(policy, {}, absl::InfinitePast()); }

// When they expire.
DueRule ExpiryRuleOf(const Policy& policy) { return DueRuleOf({policy.default_ttl, 0}); }

// How far each hour of a forecast may be off is the greatest of the hours' bounds.
struct Forecast {
  HourlyItems items{};
  int64_t error_bound_items = 0;
};

Forecast ComputeForecast(const ItemHistogram& tally, const Policy& policy, absl::Time now) {
  const DueRule rule = ExpiryRuleOf(policy);
  Forecast forecast;
  ItemEstimate before = tally.CountDue(rule, absl::ToUnixSeconds(now));
  for (size_t hour = 0; hour < kForecastHours; ++hour) {
    now += absl::Hours(1);
    const ItemEstimate after = tally.CountDue(rule, absl::ToUnixSeconds(now));
    forecast.items[hour] = after.sum.items - before.sum.items;
    forecast.error_bound_items =
        std::max(forecast.error_bound_items, before.error_bound_items + after.error_bound_items);
    before = after;
  }
  return forecast;
}

}  // namespace

PolicyEffect ComputePolicyEffect(const TallyView& tally, const Policy& present, const Policy& next,
                                 absl::Time now) {
  const int64_t second = absl::ToUnixSeconds(now);
  const DueRule expiry = ExpiryRuleOf(present);
  const DueRule next_expiry = ExpiryRuleOf(next);
  const ItemEstimate expired = tally.histogram.CountDueOnlyBy(next_expiry, expiry, second);
  const ItemEstimate visible = tally.histogram.CountDueOnlyBy(expiry, next_expiry, second);
  const ItemEstimate due =
      tally.histogram.CountDueOnlyBy(DueRuleOf(next), DueRuleOf(present), second);
  const Forecast forecast = ComputeForecast(tally.histogram, next, now);

  PolicyEffect effect;
  effect.newly_expired_items = expired.sum.items;
  effect.newly_visible_items = visible.sum.items;
  effect.newly_due_items = due.sum.items;
  effect.expiring_per_hour = forecast.items;
  effect.error_bound_items = std::max({expired.error_bound_items, visible.error_bound_items,
                                       due.error_bound_items, forecast.error_bound_items});
  if (!KeepsAllThat(next, present)) {
    effect.newly_due_at_most =
        tally.complete ? std::min(due.sum.items + due.error_bound_items, tally.tracked.items)
                       : tally.tracked.items;
  }
  return effect;
}

bool PullsBrake(const PolicyBrake& brake, int64_t newly_due_at_most, int64_t tracked_items) {
  if (newly_due_at_most <= 0) return false;
  if (brake.max_newly_due_items.has_value() && newly_due_at_most > *brake.max_newly_due_items) {
    return true;
  }
  return brake.max_newly_due_percent.has_value() &&
         static_cast<double>(newly_due_at_most) * 100 >
             *brake.max_newly_due_percent * static_cast<double>(tracked_items);
}

ItemEstimate CountExpired(const ItemHistogram& tally, const Policy& policy, absl::Time now) {
  return tally.CountDue(ExpiryRuleOf(policy), absl::ToUnixSeconds(now));
}

HourlyItems ForecastPerHour(const ItemHistogram& tally, const Policy& policy, absl::Time now) {
  return ComputeForecast(tally, policy, now).items;
}

}  // namespace ttl
