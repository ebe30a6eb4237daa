#ifndef TTL_TESTS_TESTING_WAIT_H_
#define TTL_TESTS_TESTING_WAIT_H_

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace ttl {

// Polls `predicate` until it holds or `deadline` has passed, and returns
// whether it held. It is asked at least once, and once more at the deadline.
// Tests use this instead of sleeping for as long as something "should take".
bool WaitUntil(absl::FunctionRef<bool()> predicate, absl::Duration deadline = absl::Seconds(10),
               absl::Duration poll_interval = absl::Milliseconds(10));

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_WAIT_H_
