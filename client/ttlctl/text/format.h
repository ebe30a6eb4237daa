#ifndef TTL_CLIENT_TTLCTL_TEXT_FORMAT_H_
#define TTL_CLIENT_TTLCTL_TEXT_FORMAT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// Human-readable text of values. Instants are in UTC. Pure functions.

// 2026-11-27T21:46:01Z
std::string FormatUnixSeconds(int64_t seconds);

// The two largest units, rounded down: "3d 4h", "59s", "0s". Below a minute with tenths unless they
// are 0: "2.5s". Negative values have a sign, except "0s".
std::string FormatSpan(absl::Duration duration);

// 1234567 as "1,234,567".
std::string FormatCount(int64_t count);

// The shortest decimal that reads back as the same number: "0.1", "500".
std::string FormatRate(double per_second);

// A measured number with three significant digits, or whole from 100 on: "0.125", "29.9", "1,234".
std::string FormatMeasured(double number);

// Lines of "label  value" with aligned values; further lines of a value are indented below it.
std::string FormatFields(const std::vector<std::pair<std::string, std::string>>& fields);

// `text` with each newline as \x0a, so that it cannot look like a line of its own.
std::string OneLine(absl::string_view text);

// Number of terminal columns of UTF-8 text, with one column per character.
size_t DisplayWidth(absl::string_view text);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_FORMAT_H_
