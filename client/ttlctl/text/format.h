#ifndef TTL_CLIENT_TTLCTL_TEXT_FORMAT_H_
#define TTL_CLIENT_TTLCTL_TEXT_FORMAT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// Pure functions from values to text for people. Instants are in UTC.

// 2026-11-27T21:46:01Z
std::string FormatUnixSeconds(int64_t seconds);

// The two largest units, rounded down: "3d 4h", "59s", "0s"; below a minute
// with a tenth if it is not whole: "2.5s". Negative with a sign, unless it is "0s".
std::string FormatSpan(absl::Duration duration);

// 1234567 as "1,234,567".
std::string FormatCount(int64_t count);

// The shortest decimal that reads back as the same number: "0.1", "500".
std::string FormatRate(double per_second);

// A measured number to three places, whole from 100 on: "0.125", "29.9", "1,234".
std::string FormatMeasured(double number);

// Lines of "label  value", the values aligned; a value of several lines is
// continued under its beginning.
std::string FormatFields(const std::vector<std::pair<std::string, std::string>>& fields);

// Columns a terminal needs for UTF-8 text, if each character takes one.
size_t DisplayWidth(absl::string_view text);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_FORMAT_H_
