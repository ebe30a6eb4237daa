#include "service/server/metrics/expiry_metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "service/core/adoption.h"
#include "service/core/due_rules.h"
#include "service/core/forecast.h"
#include "service/rpc/status/due_items.h"
#include "service/rpc/status/window_outlook.h"
#include "service/server/metrics/container_label.h"
#include "service/server/metrics/metric_catalog.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {
namespace {

// The label of a hold, such as "container_paused".
std::string NameOf(DeleteHold hold) {
  std::string name = v1::DeleteHold_Name(static_cast<v1::DeleteHold>(hold));
  name = std::string(absl::StripPrefix(name, "DELETE_HOLD_"));
  absl::AsciiStrToLower(&name);
  return name;
}

std::string NameOf(PushBack kind) {
  constexpr std::array<const char*, kPushBacks> kNames = {
      "throttled", "retry_after", "resource_exhausted", "unavailable",
      "no_answer", "slow",        "out_of_time"};
  return kNames[static_cast<size_t>(kind)];
}

DueRule RuleOf(const Container& container, absl::Time now) {
  return ComputeDueRule(container.settings.policy, container.replaced_policies, now);
}

// A lower bound of the oldest due time in the container; absent if nothing is due.
std::optional<int64_t> DueFrom(const ExpiryIndex& index, const Container& container,
                               const DueRule& rule, const Tallies::Figures& tally,
                               int64_t now_seconds) {
  const bool nothing_is_due = tally.due.sum.items == 0 && tally.due.error_bound_items == 0;
  if (tally.complete && nothing_is_due) return std::nullopt;
  // Items that wait for a retry have been due before, and the index does not tell since when.
  if (tally.failing > 0) return 0;
  const std::optional<int64_t> next = index.NextDueTime(container, rule);
  return next.has_value() && *next <= now_seconds ? next : std::nullopt;
}

// Age of the oldest due item; zero if nothing is due.
absl::Duration AgeOf(std::optional<int64_t> due_time, absl::Time now) {
  if (!due_time.has_value()) return absl::ZeroDuration();
  return std::max(absl::ZeroDuration(), now - absl::FromUnixSeconds(*due_time));
}

void AddDeletes(const DeleteTally& tally, const std::string& label, MetricSheet& sheet) {
  const std::pair<const char*, int64_t> outcomes[] = {
      {"deleted", tally.deleted},     {"not_found", tally.not_found},
      {"modified", tally.modified},   {"not_expired", tally.not_expired},
      {"throttled", tally.throttled}, {"out_of_time", tally.out_of_time},
      {"failed", tally.failed},       {"unanswered", tally.unanswered}};
  for (const auto& [outcome, count] : outcomes) {
    sheet.Set(metric::kDeletes, count, {label, outcome});
  }
  sheet.Set(metric::kDeletesSent, tally.sent, {label});
}

using ExpiringItems = ExpiryMetrics::ExpiringItems;

constexpr std::array<const char*, 3> kForecastNames = {"hour", "day", "week"};
constexpr std::array<int64_t, 3> kForecastSeconds = {3600, 86400, 7 * 86400};

ExpiringItems ForecastAt(const Tallies& tallies, const Container& container, int64_t now_seconds) {
  std::array<int64_t, kForecastSeconds.size() + 1> times = {now_seconds};
  for (size_t i = 0; i < kForecastSeconds.size(); ++i) {
    times[i + 1] = now_seconds + kForecastSeconds[i];
  }
  const Tallies::Forecast tally =
      tallies.ForecastOf(container.number, ExpiryMoments(container.settings.policy, times), {});
  ExpiringItems forecast = {};
  int64_t sum = 0;
  for (size_t i = 0; i < forecast.size(); ++i) {
    sum += tally.expiring[i + 1].sum.items;
    forecast[i] = sum;
  }
  return forecast;
}

// The metrics of one container, or of all unnamed containers.
struct Row {
  std::string label;
  absl::Duration oldest_due_age;
  Tallies::Figures tally;
  ExpiringItems forecast;
  HoldCounts holds;
  DeleteRecord deletes;
};

void AddRow(const Row& row, MetricSheet& sheet) {
  sheet.Set(metric::kOldestDueAge, absl::ToDoubleSeconds(row.oldest_due_age), {row.label});
  sheet.SetLateness(metric::kLateness, row.deletes.lateness, {row.label});
  sheet.Set(metric::kBacklog, row.tally.due.sum.items, {row.label});
  for (size_t i = 0; i < row.forecast.size(); ++i) {
    sheet.Set(metric::kExpiring, row.forecast[i], {row.label, kForecastNames[i]});
  }
  sheet.Set(metric::kFailing, row.tally.failing, {row.label});
  sheet.Set(metric::kHolds, row.holds.holds, {row.label});
  sheet.Set(metric::kItemsSetAside, row.holds.items_set_aside, {row.label});
  sheet.Set(metric::kTrackedItems, row.tally.tracked.items, {row.label});
  sheet.Set(metric::kTrackedBytes, row.tally.tracked.bytes, {row.label});
  AddDeletes(row.deletes.tally, row.label, sheet);
}

void AddPace(const ExpiryView::Freedom& freedom, const std::string& label, MetricSheet& sheet) {
  sheet.Set(metric::kAllowedRate,
            freedom.allowed_per_second.value_or(std::numeric_limits<double>::infinity()), {label});
  for (const DeleteHold hold : freedom.holds) sheet.Set(metric::kHold, 1.0, {label, NameOf(hold)});
  if (!freedom.rates.budget.has_value()) return;
  const double provisioned = freedom.rates.budget->request_units_per_second;
  sheet.Set(metric::kRequestUnits, provisioned, {label, "provisioned"});
  sheet.Set(metric::kRequestUnits, freedom.rates.budget->used_by_requests.value_or(provisioned),
            {label, "used"});
}

void AddWindows(const WindowOutlook& outlook, const WindowView& view, const std::string& label,
                MetricSheet& sheet) {
  const double deletable = outlook.deletable_items.has_value()
                               ? static_cast<double>(*outlook.deletable_items)
                               : std::numeric_limits<double>::infinity();
  sheet.Set(metric::kWindowsDeletable, deletable, {label});
  sheet.Set(metric::kWindowsDue, outlook.due_items, {label});
  sheet.Set(metric::kWindowsNextStart,
            absl::ToUnixSeconds(view.next_start.value_or(absl::UnixEpoch())), {label});
}

void AddStore(const StoreView& store, MetricSheet& sheet) {
  sheet.Set(metric::kStoreConfigured, store.configured);
  sheet.Set(metric::kStoreReachable, store.reachable);
  sheet.Set(metric::kStoreUnconfirmed, !store.unconfirmed.empty());
  if (store.clock_skew.has_value()) {
    sheet.Set(metric::kStoreSkew, absl::ToDoubleSeconds(*store.clock_skew));
  }
}

void AddClock(const ClockStatus& clock, MetricSheet& sheet) {
  sheet.Set(metric::kClockSuspect, clock.suspect);
  if (clock.wall.has_value() && clock.steady.has_value()) {
    sheet.Set(metric::kClockDifference, absl::ToDoubleSeconds(*clock.wall - *clock.steady));
  }
}

void AddCalls(const StoreCallCounts& calls, MetricSheet& sheet) {
  std::map<absl::StatusCode, int64_t> by_code = calls.by_code;
  by_code.try_emplace(absl::StatusCode::kOk, 0);
  for (const auto& [code, count] : by_code) {
    sheet.Set(metric::kDeleteCalls, count, {absl::StatusCodeToString(code)});
  }
  sheet.SetDurations(metric::kDeleteCallDuration, calls.duration);
  for (size_t i = 0; i < kPushBacks; ++i) {
    sheet.Set(metric::kPushBacks, calls.push_backs[i], {NameOf(static_cast<PushBack>(i))});
  }
}

// Sums up the unnamed containers that have something due.
class Others {
 public:
  Others(const ExpiryIndex& index, absl::Time now) : index_(index), now_(now) {}

  void Add(const ContainerPtr& container, const Tallies::Figures& tally,
           const ExpiringItems& forecast, const HoldCounts& holds,
           std::optional<int64_t> due_from) {
    tally_.tracked += tally.tracked;
    tally_.due.sum += tally.due.sum;
    tally_.failing += tally.failing;
    for (size_t i = 0; i < forecast.size(); ++i) forecast_[i] += forecast[i];
    hold_counts_.holds += holds.holds;
    hold_counts_.items_set_aside += holds.items_set_aside;
    if (due_from.has_value()) candidates_.emplace_back(*due_from, container);
  }

  void AddHolds(const std::vector<DeleteHold>& holds) {
    ++with_due_;
    for (const DeleteHold hold : holds) ++holds_[hold];
  }

  const Tallies::Figures& tally() const { return tally_; }
  const ExpiringItems& forecast() const { return forecast_; }
  const HoldCounts& hold_counts() const { return hold_counts_; }

  // The holds that apply to all containers with something due.
  std::vector<DeleteHold> CommonHolds() const {
    std::vector<DeleteHold> common;
    for (const auto& [hold, count] : holds_) {
      if (count == with_due_) common.push_back(hold);
    }
    return common;
  }

  // Candidates are sorted by lower bound, so that mostly one index read is enough.
  std::optional<int64_t> FindOldest() {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::optional<int64_t> oldest;
    size_t looks = 0;
    for (const auto& [from, container] : candidates_) {
      if (looks++ == ExpiryMetrics::kMaxLooks || (oldest.has_value() && *oldest <= from)) break;
      const auto found =
          index_.OldestDueTime(*container, RuleOf(*container, now_), absl::ToUnixSeconds(now_));
      if (!found.ok() || !found->has_value()) continue;
      oldest = std::min(oldest.value_or(**found), **found);
    }
    return oldest;
  }

 private:
  const ExpiryIndex& index_;
  const absl::Time now_;
  Tallies::Figures tally_;
  ExpiringItems forecast_ = {};
  HoldCounts hold_counts_;
  std::vector<std::pair<int64_t, ContainerPtr>> candidates_;
  int64_t with_due_ = 0;
  std::map<DeleteHold, int64_t> holds_;
};

}  // namespace

void ExpiryMetrics::Add(MetricSheet& sheet) const {
  const ExpiryView::Snapshot snapshot = parts_.view.TakeSnapshot();
  AddContainers(snapshot, sheet);
  sheet.Set(metric::kOverdueContainers, static_cast<int64_t>(parts_.overdue.count()));
  sheet.Set(metric::kPaused, snapshot.all_paused.has_value());
  sheet.Set(metric::kMaxRate,
            snapshot.limit_per_second.value_or(std::numeric_limits<double>::infinity()));
  AddCalls(parts_.published.Calls(), sheet);
  sheet.Set(metric::kDeleteCallsUnderWay, snapshot.sweeper.calls_under_way);
  if (snapshot.steady.has_value()) {
    const absl::Duration last = snapshot.sweeper.last_step.value_or(parts_.start_steady);
    sheet.Set(metric::kSweepAge, absl::ToDoubleSeconds(*snapshot.steady - last));
  }
  AddStore(snapshot.store, sheet);
  AddClock(snapshot.clock, sheet);
}

void ExpiryMetrics::AddContainers(const ExpiryView::Snapshot& snapshot, MetricSheet& sheet) const {
  const absl::Time now = snapshot.clock.time.now;
  const int64_t now_seconds = absl::ToUnixSeconds(now);
  const std::vector<ContainerPtr> containers = parts_.storage.containers().All();
  std::vector<uint64_t> numbers;
  numbers.reserve(containers.size());
  for (const ContainerPtr& container : containers) numbers.push_back(container->number);
  const SweepBreakdown breakdown = parts_.published.Breakdown(numbers);
  const ExpiryIndex& index = parts_.storage.expiry_index();
  Others others(index, now);
  int64_t uncounted = 0;
  for (const ContainerPtr& container : containers) {
    const DueRule rule = RuleOf(*container, now);
    Tallies::Figures tally =
        parts_.storage.tallies().FiguresOf(container->number, rule, now_seconds);
    // Adopted items in their grace are not due, but the histogram counts them as due.
    if (AdoptionEnd(*container, tally.adopted.last_adopted_until) > now_seconds) {
      tally.due.sum.items = std::max<int64_t>(tally.due.sum.items - tally.adopted.left, 0);
    }
    const HoldCounts holds = parts_.storage.holds().Counts(container->number);
    const auto due_from = DueFrom(index, *container, rule, tally, now_seconds);
    tally.due.sum.items =
        std::max<int64_t>(tally.due.sum.items - SetAsideItems(parts_.storage, *container), 0);
    if (!tally.complete) ++uncounted;
    const ExpiringItems forecast = ForecastAt(parts_.storage.tallies(), *container, now_seconds);
    if (breakdown.named.contains(container->number)) {
      std::optional<int64_t> oldest;
      if (due_from.has_value()) {
        oldest = index.OldestDueTime(*container, rule, now_seconds).value_or(std::nullopt);
      }
      if (oldest.has_value()) tally.due.sum.items = std::max<int64_t>(tally.due.sum.items, 1);
      AddNamed(snapshot, *container, tally, oldest, forecast, sheet);
      continue;
    }
    others.Add(container, tally, forecast, holds, due_from);
    if (tally.due.sum.items > 0) others.AddHolds(parts_.view.FreedomAt(snapshot, *container).holds);
  }
  if (breakdown.named.size() < containers.size() || breakdown.others.tally.sent > 0) {
    const std::optional<int64_t> oldest = others.FindOldest();
    Tallies::Figures tally = others.tally();
    if (oldest.has_value()) tally.due.sum.items = std::max<int64_t>(tally.due.sum.items, 1);
    AddRow({std::string(kOtherContainers), AgeOf(oldest, now), std::move(tally), others.forecast(),
            others.hold_counts(), breakdown.others},
           sheet);
    for (const DeleteHold hold : others.CommonHolds()) {
      sheet.Set(metric::kHold, 1.0, {std::string(kOtherContainers), NameOf(hold)});
    }
  }
  sheet.Set(metric::kUncountedContainers, uncounted);
}

void ExpiryMetrics::AddNamed(const ExpiryView::Snapshot& snapshot, const Container& container,
                             const Tallies::Figures& tally, std::optional<int64_t> oldest_due_time,
                             const ExpiringItems& expiring, MetricSheet& sheet) const {
  const std::string label = ContainerLabel(container);
  ExpiryView::Freedom freedom = parts_.view.FreedomAt(snapshot, container);
  AddRow({label, AgeOf(oldest_due_time, snapshot.clock.time.now), tally, expiring,
          parts_.storage.holds().Counts(container.number), std::move(freedom.sweep.deletes)},
         sheet);
  AddPace(freedom, label, sheet);
  if (container.settings.windows.has_value()) {
    AddWindows(
        ComputeWindowOutlook(parts_.storage, container, freedom.rates, snapshot.clock.time.now),
        freedom.windows, label, sheet);
  }
}

}  // namespace ttl
