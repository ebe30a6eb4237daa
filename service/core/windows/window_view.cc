#include "service/core/windows/window_view.h"

#include "service/core/windows/time_zone.h"
#include "service/core/windows/window_clock.h"

namespace ttl {

WindowView ViewWindows(const std::optional<DeleteWindows>& windows, const JudgingTime& time) {
  if (!windows.has_value()) return {};
  const std::optional<absl::TimeZone> zone = FindTimeZone(windows->time_zone);
  const WindowClock clock(*windows, zone);
  const bool latest_is_stricter = clock.RateAt(time.latest) < clock.RateAt(time.for_deletes);
  const absl::Time at = latest_is_stricter ? time.latest : time.for_deletes;
  WindowView view = {.open = clock.IsOpen(at),
                     .limit = clock.LimitAt(at),
                     .judged_at = at,
                     .zone_is_missing = !zone.has_value()};
  if (view.limit == 0.0) view.next_start = clock.NextAllowed(at);
  return view;
}

}  // namespace ttl
