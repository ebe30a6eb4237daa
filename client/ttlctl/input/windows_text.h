#ifndef TTL_CLIENT_TTLCTL_INPUT_WINDOWS_TEXT_H_
#define TTL_CLIENT_TTLCTL_INPUT_WINDOWS_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ttl/v1/container.pb.h"

// Windows of deletes on the command line: "mon-fri 22:00-06:00 500/s; sat,sun 00:00-24:00". Pure
// functions.
namespace ttl {

// One window: days (absent: every day), times, and its deletes per second (absent: no limit), with
// or without "/s".
inline constexpr char kWindowForm[] = "[DAYS ]HH:MM-HH:MM[ RATE]";

// Windows that semicolons separate. INVALID_ARGUMENT quotes the window that is none.
absl::StatusOr<std::vector<v1::DeleteWindow>> WindowsFromText(absl::string_view text);

// One window, as WindowsFromText() takes it. Values have equal texts only if they mean the same.
std::string WindowText(const v1::DeleteWindow& window);

// All windows, in one line.
std::string WindowsText(const v1::DeleteWindows& windows);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_WINDOWS_TEXT_H_
