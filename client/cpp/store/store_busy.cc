#include "ttl/store_busy.h"

#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

// Of the payload, which has the nanoseconds.
constexpr char kRetryAfter[] = "ttl-sidecar/retry-after";

}  // namespace

absl::Status StoreBusyError(absl::Duration retry_after) {
  absl::Status status = absl::ResourceExhaustedError(
      absl::StrCat("the store is busy for ", absl::FormatDuration(retry_after)));
  status.SetPayload(kRetryAfter, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(retry_after))));
  return status;
}

std::optional<absl::Duration> BusyTimeOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryAfter);
  int64_t nanoseconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &nanoseconds)) {
    return std::nullopt;
  }
  return absl::Nanoseconds(nanoseconds);
}

}  // namespace ttl
