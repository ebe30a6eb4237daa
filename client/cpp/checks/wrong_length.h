#ifndef TTL_CLIENT_CPP_CHECKS_WRONG_LENGTH_H_
#define TTL_CLIENT_CPP_CHECKS_WRONG_LENGTH_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl {

// The INTERNAL error of a response of `method` whose list of `list` has `got` elements instead of
// `want`, one per entry.
absl::Status WrongLength(absl::string_view method, absl::string_view list, int got, size_t want);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_WRONG_LENGTH_H_
