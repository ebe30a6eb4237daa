#ifndef TTL_SERVICE_CORE_WINDOWS_WINDOW_VIEW_H_
#define TTL_SERVICE_CORE_WINDOWS_WINDOW_VIEW_H_

#include <optional>

#include "absl/time/time.h"
#include "service/core/guarded_clock.h"
#include "service/core/windows/delete_windows.h"

namespace ttl {

// What the windows of a container say at one instant.
struct WindowView {
  bool open = false;                                    // whether a window is
  std::optional<double> limit = std::nullopt;           // deletes per second; absent: none is set
  std::optional<absl::Time> next_start = std::nullopt;  // if the limit is 0: when it ends
  std::optional<absl::Time> judged_at = std::nullopt;   // the time that this was looked up for
  bool zone_is_missing = false;                         // the time zone cannot be loaded
};

// Without windows there is no limit. The two readings of the clock may differ: the smaller limit of
// the two counts, so that deletes keep out of a window's way by whichever reading is right.
WindowView ViewWindows(const std::optional<DeleteWindows>& windows, const JudgingTime& time);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_WINDOWS_WINDOW_VIEW_H_
