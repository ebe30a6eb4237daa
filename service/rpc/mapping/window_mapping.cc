#include "service/rpc/mapping/window_mapping.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/core/windows/window_text.h"

namespace ttl {
namespace {

absl::Status InvalidWindow(absl::string_view path, absl::string_view problem) {
  const std::string field = absl::StrCat(kWindowsField, ".", path);
  return InvalidField(absl::StrCat("container.", field), absl::StrCat(field, " is ", problem));
}

absl::StatusOr<int> ReadTimeOfDay(absl::string_view path, absl::string_view text,
                                  absl::string_view range) {
  constexpr size_t kMaxShownBytes = 64;
  const std::optional<int> time = ParseTimeOfDay(text);
  if (time.has_value()) return *time;
  return InvalidWindow(
      path, absl::StrCat(Quoted(text, kMaxShownBytes), ": must be a time such as 22:00, ", range));
}

absl::StatusOr<uint8_t> ReadDays(absl::string_view path, const v1::DeleteWindow& proto) {
  if (proto.days().empty()) return DeleteWindow::kEveryDay;
  uint8_t days = 0;
  for (const int day : proto.days()) {
    if (day < v1::DAY_OF_WEEK_MONDAY || day > v1::DAY_OF_WEEK_SUNDAY) {
      return InvalidWindow(path,
                           absl::StrCat(day, ": must be MONDAY (", int{v1::DAY_OF_WEEK_MONDAY},
                                        ") to SUNDAY (", int{v1::DAY_OF_WEEK_SUNDAY}, ")"));
    }
    days = static_cast<uint8_t>(days | 1 << (day - v1::DAY_OF_WEEK_MONDAY));
  }
  return days;
}

absl::StatusOr<DeleteWindow> ReadWindow(const std::string& path, const v1::DeleteWindow& proto) {
  DeleteWindow window;
  TTL_ASSIGN_OR_RETURN(window.days, ReadDays(absl::StrCat(path, ".days"), proto));
  TTL_ASSIGN_OR_RETURN(
      window.start, ReadTimeOfDay(absl::StrCat(path, ".start"), proto.start(), "00:00 to 23:59"));
  TTL_ASSIGN_OR_RETURN(window.end,
                       ReadTimeOfDay(absl::StrCat(path, ".end"), proto.end(), "00:00 to 24:00"));
  if (proto.has_max_deletes_per_second()) {
    window.max_deletes_per_second = proto.max_deletes_per_second();
  }
  return window;
}

v1::DeleteWindow ProtoOf(const DeleteWindow& window) {
  v1::DeleteWindow proto;
  for (int day = v1::DAY_OF_WEEK_MONDAY; day <= v1::DAY_OF_WEEK_SUNDAY; ++day) {
    const bool starts = (window.days >> (day - v1::DAY_OF_WEEK_MONDAY) & 1) != 0;
    if (starts && window.days != DeleteWindow::kEveryDay) {
      proto.add_days(static_cast<v1::DayOfWeek>(day));
    }
  }
  proto.set_start(TimeOfDayText(window.start));
  proto.set_end(TimeOfDayText(window.end));
  if (const auto rate = window.max_deletes_per_second) proto.set_max_deletes_per_second(*rate);
  return proto;
}

void AppendWindow(std::string* out, const DeleteWindow& window) {
  absl::StrAppend(out, absl::StrJoin(DayNames(window.days), ","), " ", TimeOfDayText(window.start),
                  "-", TimeOfDayText(window.end));
  if (const auto rate = window.max_deletes_per_second) absl::StrAppend(out, " ", *rate);
}

}  // namespace

absl::StatusOr<DeleteWindows> ReadWindows(const v1::DeleteWindows& proto) {
  DeleteWindows windows;
  for (int i = 0; i < proto.windows_size(); ++i) {
    TTL_ASSIGN_OR_RETURN(windows.windows.emplace_back(),
                         ReadWindow(absl::StrCat("windows[", i, "]"), proto.windows(i)));
  }
  windows.time_zone = proto.time_zone();
  windows.max_deletes_per_second_outside = proto.max_deletes_per_second_outside();
  return windows;
}

v1::DeleteWindows ToProto(const DeleteWindows& windows) {
  v1::DeleteWindows proto;
  for (const DeleteWindow& window : windows.windows) *proto.add_windows() = ProtoOf(window);
  proto.set_time_zone(windows.time_zone);
  if (windows.max_deletes_per_second_outside != 0) {
    proto.set_max_deletes_per_second_outside(windows.max_deletes_per_second_outside);
  }
  return proto;
}

std::string Describe(const DeleteWindows& windows) {
  return absl::StrCat("{", absl::StrJoin(windows.windows, "; ", AppendWindow),
                      " time_zone=", windows.time_zone.empty() ? "UTC" : windows.time_zone,
                      " max_deletes_per_second_outside=", windows.max_deletes_per_second_outside,
                      "}");
}

}  // namespace ttl
