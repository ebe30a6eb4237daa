#ifndef TTL_CLIENT_CPP_CHECKS_VISIBILITY_ANSWERS_H_
#define TTL_CLIENT_CPP_CHECKS_VISIBILITY_ANSWERS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ttl/v1/item_service.pb.h"
#include "ttl/visibility_answer.h"

namespace ttl {

// Converts the response to `checks` checks; `method` is for errors. INTERNAL if it has not one
// answer per check.
absl::StatusOr<std::vector<VisibilityAnswer>> ToVisibilityAnswers(
    absl::string_view method, const v1::CheckVisibilityResponse& response, size_t checks);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_VISIBILITY_ANSWERS_H_
