#include "client/ttlctl/input/time_text.h"

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

// 10000-01-01T00:00:00Z
constexpr int64_t kEndOfTimes = 253'402'300'800;

}  // namespace

absl::StatusOr<absl::Time> TimeFromText(absl::string_view text) {
  absl::Time time;
  if (int64_t seconds; absl::SimpleAtoi(text, &seconds)) {
    time = absl::FromUnixSeconds(seconds);
  } else if (std::string error; !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" must be ", kTimeForms));
  }
  if (time >= absl::UnixEpoch() && time < absl::FromUnixSeconds(kEndOfTimes)) return time;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" must be in the years 1970 to 9999"));
}

}  // namespace ttl
