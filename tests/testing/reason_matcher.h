#ifndef TTL_TESTS_TESTING_REASON_MATCHER_H_
#define TTL_TESTS_TESTING_REASON_MATCHER_H_

#include "gmock/gmock.h"
#include "service/base/error_details.h"

namespace ttl {

// Matches an absl::Status that has `reason` and its code.
MATCHER_P(HasReason, reason, "") {
  *result_listener << "which is " << arg.ToString();
  return ReasonOf(arg) == EntryOf(reason).name && arg.code() == EntryOf(reason).code;
}

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_REASON_MATCHER_H_
