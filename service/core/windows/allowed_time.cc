#include "service/core/windows/allowed_time.h"

#include <algorithm>

#include "service/core/windows/time_zone.h"

namespace ttl {

AllowedTime::AllowedTime(const std::optional<DeleteWindows>& windows, absl::Time from,
                         absl::Time to)
    : to_(to) {
  const std::optional<absl::TimeZone> zone =
      windows.has_value() ? FindTimeZone(windows->time_zone) : std::nullopt;
  if (!zone.has_value()) {
    spans_.push_back({absl::InfinitePast(), to});
    return;
  }
  const absl::Time looked_at = std::max(from, to - kLookBack);
  if (from < looked_at) spans_.push_back({absl::InfinitePast(), looked_at});
  AddSpans(WindowClock(*windows, zone), looked_at);
}

void AllowedTime::AddSpans(const WindowClock& clock, absl::Time from) {
  for (absl::Time begin = from; begin < to_;) {
    const absl::Time end = std::min(clock.NextChange(begin).value_or(to_), to_);
    if (clock.AllowsAt(begin)) spans_.push_back({begin, end});
    begin = end;
  }
}

absl::Duration AllowedTime::Since(absl::Time time) const {
  absl::Duration sum;
  for (auto span = spans_.rbegin(); span != spans_.rend() && span->end > time; ++span) {
    sum += span->end - std::max(span->begin, time);
  }
  return sum;
}

}  // namespace ttl
