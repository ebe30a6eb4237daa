#include "service/core/windows/delete_windows.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/core/windows/time_zone.h"

namespace ttl {
namespace {

absl::Status InvalidWindows(absl::string_view path, absl::string_view problem) {
  const std::string field = absl::StrCat(kWindowsField, ".", path);
  return InvalidField(absl::StrCat("container.", field), absl::StrCat(field, problem));
}

absl::Status ValidateWindowRate(absl::string_view path, double rate) {
  if (std::isfinite(rate) && rate >= 0) return absl::OkStatus();
  return InvalidWindows(
      path, absl::StrCat(" is ", rate, ": must be a finite number, 0 (no deletes) or more"));
}

absl::Status ValidateWindow(const std::string& path, const DeleteWindow& window) {
  constexpr int kDay = DeleteWindow::kMinutesPerDay;
  if (window.days == 0 || window.days > DeleteWindow::kEveryDay) {
    return InvalidWindows(absl::StrCat(path, ".days"),
                          " names no day of the week: name at least one");
  }
  if (window.start < 0 || window.start >= kDay) {
    return InvalidWindows(absl::StrCat(path, ".start"), ": must be 00:00 to 23:59");
  }
  if (window.end < 0 || window.end > kDay) {
    return InvalidWindows(absl::StrCat(path, ".end"), ": must be 00:00 to 24:00");
  }
  return ValidateWindowRate(absl::StrCat(path, ".max_deletes_per_second"),
                            window.max_deletes_per_second.value_or(0));
}

}  // namespace

absl::Status ValidateWindows(const DeleteWindows& windows) {
  const size_t count = windows.windows.size();
  if (count == 0 || count > DeleteWindows::kMaxWindows) {
    return InvalidWindows(
        "windows",
        absl::StrCat(" has ", count, " windows: must have 1 to ", DeleteWindows::kMaxWindows,
                     "; leave out delete_policy.windows to delete at any "
                     "time"));
  }
  for (size_t i = 0; i < count; ++i) {
    TTL_RETURN_IF_ERROR(ValidateWindow(absl::StrCat("windows[", i, "]"), windows.windows[i]));
  }
  if (!IsTimeZoneName(windows.time_zone)) {
    return InvalidWindows("time_zone", absl::StrCat(" is ", ShownTimeZone(windows.time_zone),
                                                    ": must be ", kRightTimeZone));
  }
  return ValidateWindowRate("max_deletes_per_second_outside",
                            windows.max_deletes_per_second_outside);
}

absl::Status CheckTimeZone(const DeleteWindows& windows) {
  if (FindTimeZone(windows.time_zone).has_value()) return absl::OkStatus();
  return InvalidWindows("time_zone",
                        absl::StrCat(" is ", ShownTimeZone(windows.time_zone),
                                     ", which this machine does not have: must be ", kRightTimeZone,
                                     "; the names come from the package tzdata, and case counts"));
}

}  // namespace ttl
