#ifndef TTL_CLIENT_TTLCTL_INPUT_TIME_TEXT_H_
#define TTL_CLIENT_TTLCTL_INPUT_TIME_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// What TimeFromText takes, for messages.
inline constexpr absl::string_view kTimeForms =
    "Unix seconds, or a time such as 2027-06-30T12:00:00Z";

// The time of Unix seconds ("1800000000"), or of RFC 3339 with its offset ("2027-06-30T12:00:00Z",
// "2027-06-30T14:00:00+02:00"), which is how times are printed. INVALID_ARGUMENT for other text,
// and outside the years 1970 to 9999. Pure.
absl::StatusOr<absl::Time> TimeFromText(absl::string_view text);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_TIME_TEXT_H_
