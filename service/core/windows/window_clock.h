#ifndef TTL_SERVICE_CORE_WINDOWS_WINDOW_CLOCK_H_
#define TTL_SERVICE_CORE_WINDOWS_WINDOW_CLOCK_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/forecast.h"
#include "service/core/windows/delete_windows.h"

namespace ttl {

// What the windows of a container allow at any time. A window is open at a time at which the clock
// of the time zone shows a time in it, so that changes of daylight saving need no rule of their
// own. Pure: the zone is an argument. Thread-safe.
class WindowClock {
 public:
  // How far the functions below look. A window of one day in the week that a change of daylight
  // saving leaves out opens again within this.
  static constexpr absl::Duration kLookAhead = absl::Hours(15 * 24);

  // `windows` must outlive this. `zone`: absent if it cannot be loaded; then the smallest of the
  // rates is always in force.
  WindowClock(const DeleteWindows& windows, std::optional<absl::TimeZone> zone)
      : windows_(windows), zone_(zone) {}

  // Whether a window is open.
  bool IsOpen(absl::Time time) const;

  // The deletes per second that the windows allow. Absent: they set no limit.
  std::optional<double> LimitAt(absl::Time time) const;

  // The same as a number, which is infinite without a limit.
  double RateAt(absl::Time time) const;

  bool AllowsAt(absl::Time time) const { return RateAt(time) > 0; }

  // When the limit changes next, after `time`. Absent if it does not within kLookAhead.
  std::optional<absl::Time> NextChange(absl::Time time) const;

  // The first time, `time` or later, at which deletes are allowed. Absent if there is none within
  // kLookAhead.
  std::optional<absl::Time> NextAllowed(absl::Time time) const;

 private:
  double SmallestRate() const;
  // A time after `time`, before which nothing changes. REQUIRES: there is a zone.
  absl::Time NextEdge(absl::Time time) const;
  // When the clock is changed next, by a change of daylight saving or of the zone.
  std::optional<absl::Time> NextClockChange(absl::Time time) const;

  const DeleteWindows& windows_;
  const std::optional<absl::TimeZone> zone_;
};

// The rates allowed from `from` to `to`, whole seconds: those of the windows, at most `limit`. Far
// ahead the average of four weeks stands for them. An unlimited rate is infinite.
std::vector<RateStep> WindowRates(const WindowClock& clock, std::optional<double> limit,
                                  absl::Time from, absl::Time to);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_WINDOWS_WINDOW_CLOCK_H_
