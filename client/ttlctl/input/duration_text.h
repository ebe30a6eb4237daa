#ifndef TTL_CLIENT_TTLCTL_INPUT_DURATION_TEXT_H_
#define TTL_CLIENT_TTLCTL_INPUT_DURATION_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// What SecondsFromText takes, for messages.
inline constexpr absl::string_view kDurationForms =
    "seconds, or a duration such as 90m, 1h30m or 30d";

// The seconds of a duration: whole seconds ("3600", "-1"), or numbers with the units w, d, h, m and
// s, each at most once and the larger first ("30d", "1h30m"); a day has 24 hours. INVALID_ARGUMENT
// for other text; OUT_OF_RANGE for a duration that does not fit 64 bits. Pure.
absl::StatusOr<int64_t> SecondsFromText(absl::string_view text);

// The exact text of a duration in the same units: "30d", "1h30m", "0s". REQUIRES: seconds >= 0.
// Pure.
std::string TextFromSeconds(int64_t seconds);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_DURATION_TEXT_H_
