#include "service/rpc/status/window_outlook.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/proto_time.h"
#include "service/core/forecast.h"
#include "service/core/windows/time_zone.h"
#include "service/core/windows/window_clock.h"
#include "service/rpc/status/due_items.h"

namespace ttl {
namespace {

// More than any container has items; keeps the conversion to int64_t in range.
constexpr double kMostItems = 1e18;

WindowClock ClockOf(const Container& container) {
  const DeleteWindows& windows = *container.settings.windows;
  return {windows, FindTimeZone(windows.time_zone)};
}

// How many deletes `rates` allow until `end`; absent: any number.
std::optional<int64_t> SumOf(const std::vector<RateStep>& rates, int64_t end) {
  double sum = 0;
  for (size_t i = 0; i < rates.size(); ++i) {
    const int64_t until = i + 1 < rates.size() ? rates[i + 1].begin : end;
    const auto seconds = static_cast<double>(until - rates[i].begin);
    if (seconds > 0) sum += seconds * rates[i].per_second;
  }
  if (std::isinf(sum)) return std::nullopt;
  return static_cast<int64_t>(std::min(sum, kMostItems));
}

}  // namespace

WindowOutlook ComputeWindowOutlook(Storage& storage, const Container& container,
                                   const DeleteRates& rates, absl::Time now) {
  const std::array<int64_t, 2> times = {absl::ToUnixSeconds(now),
                                        absl::ToUnixSeconds(now + WindowOutlook::kAhead)};
  const Tallies::Forecast tally = storage.tallies().ForecastOf(
      container.number, {},
      DueMoments(container.settings.policy, container.replaced_policies, times));
  const std::vector<RateStep> upcoming =
      WindowRates(ClockOf(container), rates.limit_but_windows, absl::FromUnixSeconds(times[0]),
                  absl::FromUnixSeconds(times[1]));
  return {.deletable_items = SumOf(upcoming, times[1]),
          .due_items = FreeDueItems(storage, container, tally.due[0].sum.items, times[0]) +
                       tally.due[1].sum.items};
}

v1::WindowStatus MakeWindowStatus(const Container& container, const WindowView& view,
                                  const WindowOutlook& outlook) {
  v1::WindowStatus status;
  status.set_open(view.open);
  if (view.limit.has_value()) status.set_max_deletes_per_second(*view.limit);
  if (view.next_start.has_value()) *status.mutable_next_start() = ToProto(*view.next_start);
  if (view.judged_at.has_value()) {
    const auto change = ClockOf(container).NextChange(*view.judged_at);
    if (change.has_value()) *status.mutable_next_change() = ToProto(*change);
  }
  if (outlook.deletable_items.has_value()) status.set_deletable_items(*outlook.deletable_items);
  status.set_due_items(outlook.due_items);
  status.set_suffices(outlook.Suffices());
  if (view.zone_is_missing) {
    status.set_problem(absl::StrCat("this machine does not have the time zone ",
                                    ShownTimeZone(container.settings.windows->time_zone),
                                    " (package tzdata)"));
  }
  return status;
}

}  // namespace ttl
