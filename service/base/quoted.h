#ifndef TTL_SERVICE_BASE_QUOTED_H_
#define TTL_SERVICE_BASE_QUOTED_H_

#include <cstddef>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ttl {

// `value` in quotes for messages and log lines: escaped, and truncated after `max_bytes`.
inline std::string Quoted(absl::string_view value, size_t max_bytes = 64) {
  return absl::StrCat("\"", absl::CHexEscape(value.substr(0, max_bytes)),
                      value.size() > max_bytes ? "..." : "", "\"");
}

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_QUOTED_H_
