#ifndef TTL_SERVICE_LOG_LOG_KEY_H_
#define TTL_SERVICE_LOG_LOG_KEY_H_

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace ttl {

// Whether `text` begins with the key of a field: letters a-z, digits and "_", then "=".
inline bool StartsWithKey(absl::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
  return end != text.begin() && end != text.end() && *end == '=';
}

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_KEY_H_
