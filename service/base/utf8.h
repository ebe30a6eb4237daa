#ifndef TTL_SERVICE_BASE_UTF8_H_
#define TTL_SERVICE_BASE_UTF8_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ttl {

// Removes the first code point of `text`, which is not empty, and returns it; -1, and `text` as it
// was, if it does not begin with one.
int32_t TakeCodePoint(absl::string_view& text);

bool IsValidUtf8(absl::string_view text);

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_UTF8_H_
