#ifndef TTL_CLIENT_CPP_CHECKS_WRONG_LENGTH_H_
#define TTL_CLIENT_CPP_CHECKS_WRONG_LENGTH_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl {

// The error of an answer of `method` whose list of what `list` says has `got` elements
// where one per entry, so `want`, was due.
absl::Status WrongLength(absl::string_view method, absl::string_view list, int got, size_t want);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_WRONG_LENGTH_H_
