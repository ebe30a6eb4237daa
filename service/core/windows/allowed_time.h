#ifndef TTL_SERVICE_CORE_WINDOWS_ALLOWED_TIME_H_
#define TTL_SERVICE_CORE_WINDOWS_ALLOWED_TIME_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/windows/delete_windows.h"
#include "service/core/windows/window_clock.h"

namespace ttl {

// How much of the past time the windows of a container allowed deletes: an item is late only by
// that. Time longer ago than kLookBack counts as allowed, so that no windows hide an item that is
// never deleted. A value; thread-safe.
class AllowedTime {
 public:
  static constexpr absl::Duration kLookBack = absl::Hours(8 * 24);

  // Of the time from `from` to `to`. Without windows, or with an unknown time zone, all of it.
  AllowedTime(const std::optional<DeleteWindows>& windows, absl::Time from, absl::Time to);

  // The allowed part of the time from `time`, at least `from`, to `to`.
  absl::Duration Since(absl::Time time) const;

 private:
  struct Span {
    absl::Time begin;
    absl::Time end;
  };

  void AddSpans(const WindowClock& clock, absl::Time from);

  const absl::Time to_;
  std::vector<Span> spans_;  // allowed, in order, not overlapping
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_WINDOWS_ALLOWED_TIME_H_
