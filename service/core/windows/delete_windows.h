#ifndef TTL_SERVICE_CORE_WINDOWS_DELETE_WINDOWS_H_
#define TTL_SERVICE_CORE_WINDOWS_DELETE_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ttl {

// Some hours of some days of the week, on the clock of a time zone.
struct DeleteWindow {
  static constexpr int kMinutesPerDay = 24 * 60;
  static constexpr uint8_t kEveryDay = 0x7f;

  uint8_t days = kEveryDay;  // on which it starts: bit 0 is Monday, bit 6 Sunday
  int start = 0;             // minutes after midnight, below kMinutesPerDay
  int end = kMinutesPerDay;  // minutes after midnight; on the next day if not after the start
  std::optional<double> max_deletes_per_second = std::nullopt;  // absent: no limit of its own

  friend bool operator==(const DeleteWindow&, const DeleteWindow&) = default;
};

// The hours in which the items of a container may be deleted, or may be deleted faster than at
// other times. Windows only lower the rate that is allowed without them.
struct DeleteWindows {
  static constexpr size_t kMaxWindows = 32;

  std::vector<DeleteWindow> windows;
  std::string time_zone = {};                 // IANA name; empty: UTC
  double max_deletes_per_second_outside = 0;  // while no window is open

  friend bool operator==(const DeleteWindows&, const DeleteWindows&) = default;
};

// INVALID_ARGUMENT for values out of range, naming the field of a request that has a container.
// Whether this machine has the time zone is not checked; see CheckTimeZone().
absl::Status ValidateWindows(const DeleteWindows& windows);

// INVALID_ARGUMENT if this machine does not have the time zone of `windows`. Reads files.
absl::Status CheckTimeZone(const DeleteWindows& windows);

// Messages begin with this; indexes follow: "container.delete_policy.windows.windows[0].start".
inline constexpr char kWindowsField[] = "delete_policy.windows";

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_WINDOWS_DELETE_WINDOWS_H_
