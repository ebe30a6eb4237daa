#ifndef TTL_SERVICE_BASE_UTF8_H_
#define TTL_SERVICE_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// Removes the first code point of `text`, which is not empty, and returns it; -1, and `text` as it
// was, if it does not begin with one.
int32_t TakeCodePoint(absl::string_view& text);

bool IsValidUtf8(absl::string_view text);

// The requirement of a name that `name` does not meet, such as "must be UTF-8": it must have 1 to
// `max_bytes` bytes of UTF-8 without control characters. Empty if it meets all.
std::string UnmetByName(absl::string_view name, size_t max_bytes);

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_UTF8_H_
