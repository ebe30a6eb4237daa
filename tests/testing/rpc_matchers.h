#ifndef TTL_TESTS_TESTING_RPC_MATCHERS_H_
#define TTL_TESTS_TESTING_RPC_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace ttl {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

// Matches an absl::Status, or a StatusOr, of `code` whose message matches `message`.
MATCHER_P2(StatusIs, code, message, "") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "which is " << status.ToString();
  return status.code() == code &&
         testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}
MATCHER_P(StatusIs, code, "") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}
MATCHER(IsOk, "") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// Matches INVALID_ARGUMENT with a message that contains all of the texts.
template <typename... Texts>
auto IsInvalid(const Texts&... texts) {
  return StatusIs(absl::StatusCode::kInvalidArgument, testing::AllOf(testing::HasSubstr(texts)...));
}

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_RPC_MATCHERS_H_
