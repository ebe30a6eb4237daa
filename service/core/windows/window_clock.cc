#include "service/core/windows/window_clock.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/time/civil_time.h"

// The windows are given in local time, and time goes on in UTC. In local time a limit can only
// change when the clock shows the start or the end of a window, on whatever day, or when the clock
// is put forward or back. So the next change is found by going from one of these edges to the next
// and looking at the limit there, which is a look at the clock of the zone. An edge in a gap is at
// the end of the gap; one in a repeated hour is met in each pass, because putting the clock back is
// an edge of its own.
namespace ttl {
namespace {

constexpr absl::Duration kExactRates = absl::Hours(28 * 24);

bool StartsOn(const DeleteWindow& window, absl::CivilDay day) {
  return (window.days >> static_cast<int>(absl::GetWeekday(day)) & 1) != 0;
}

int MinuteOfDay(absl::CivilMinute local) { return local.hour() * 60 + local.minute(); }

bool IsOpenAt(const DeleteWindow& window, absl::CivilMinute local) {
  const absl::CivilDay day(local);
  const int minute = MinuteOfDay(local);
  const bool ends_next_day = window.end <= window.start;
  if (StartsOn(window, day) && minute >= window.start && (ends_next_day || minute < window.end)) {
    return true;
  }
  return ends_next_day && minute < window.end && StartsOn(window, day - 1);
}

double Average(const std::vector<RateStep>& steps, int64_t end) {
  double sum = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t until = i + 1 < steps.size() ? steps[i + 1].begin : end;
    const auto seconds = static_cast<double>(until - steps[i].begin);
    if (seconds > 0) sum += seconds * steps[i].per_second;
  }
  return sum / static_cast<double>(end - steps[0].begin);
}

}  // namespace

bool WindowClock::IsOpen(absl::Time time) const {
  if (!zone_.has_value()) return false;
  const absl::CivilMinute local = absl::ToCivilMinute(time, *zone_);
  return std::any_of(windows_.windows.begin(), windows_.windows.end(),
                     [local](const DeleteWindow& window) { return IsOpenAt(window, local); });
}

double WindowClock::SmallestRate() const {
  double smallest = windows_.max_deletes_per_second_outside;
  for (const DeleteWindow& window : windows_.windows) {
    smallest = std::min(smallest, window.max_deletes_per_second.value_or(smallest));
  }
  return smallest;
}

std::optional<double> WindowClock::LimitAt(absl::Time time) const {
  if (!zone_.has_value()) return SmallestRate();
  const absl::CivilMinute local = absl::ToCivilMinute(time, *zone_);
  std::optional<double> most;
  for (const DeleteWindow& window : windows_.windows) {
    if (!IsOpenAt(window, local)) continue;
    if (!window.max_deletes_per_second.has_value()) return std::nullopt;
    most = std::max(most.value_or(0), *window.max_deletes_per_second);
  }
  return most.value_or(windows_.max_deletes_per_second_outside);
}

double WindowClock::RateAt(absl::Time time) const {
  return LimitAt(time).value_or(std::numeric_limits<double>::infinity());
}

std::optional<absl::Time> WindowClock::NextClockChange(absl::Time time) const {
  absl::TimeZone::CivilTransition change;
  if (!zone_->NextTransition(time, &change)) return std::nullopt;
  return zone_->At(change.to).trans;
}

absl::Time WindowClock::NextEdge(absl::Time time) const {
  constexpr int kDay = DeleteWindow::kMinutesPerDay;
  const absl::CivilMinute local = absl::ToCivilMinute(time, *zone_);
  const int minute = MinuteOfDay(local);
  int wait = kDay;
  for (const DeleteWindow& window : windows_.windows) {
    for (const int edge : {window.start, window.end}) {
      const int until = (edge - minute + kDay) % kDay;
      if (until > 0) wait = std::min(wait, until);
    }
  }
  const absl::TimeZone::TimeInfo at = zone_->At(absl::CivilSecond(local + wait));
  absl::Time next = at.kind == absl::TimeZone::TimeInfo::SKIPPED ? at.trans : at.pre;
  if (next <= time) next = at.post;
  if (const auto change = NextClockChange(time); change.has_value() && *change > time) {
    next = std::min(next, *change);
  }
  return std::max(next, time + absl::Seconds(1));
}

std::optional<absl::Time> WindowClock::NextChange(absl::Time time) const {
  if (!zone_.has_value()) return std::nullopt;
  const std::optional<double> limit = LimitAt(time);
  for (absl::Time edge = NextEdge(time); edge <= time + kLookAhead; edge = NextEdge(edge)) {
    if (LimitAt(edge) != limit) return edge;
  }
  return std::nullopt;
}

std::optional<absl::Time> WindowClock::NextAllowed(absl::Time time) const {
  if (AllowsAt(time)) return time;
  // The limit is 0, so every other one allows some deletes.
  return NextChange(time);
}

std::vector<RateStep> WindowRates(const WindowClock& clock, std::optional<double> limit,
                                  absl::Time from, absl::Time to) {
  const absl::Time exact_end = std::min(to, from + kExactRates);
  std::vector<RateStep> steps;
  std::optional<absl::Time> time = from;
  while (time.has_value() && *time < exact_end) {
    const double rate = clock.RateAt(*time);
    steps.push_back({absl::ToUnixSeconds(*time), std::min(rate, limit.value_or(rate))});
    time = clock.NextChange(*time);
  }
  if (exact_end < to) {
    const int64_t end = absl::ToUnixSeconds(exact_end);
    steps.push_back({end, Average(steps, end)});
  }
  return steps;
}

}  // namespace ttl
