#ifndef TTL_TESTS_UNIT_RPC_TEST_NOW_H_
#define TTL_TESTS_UNIT_RPC_TEST_NOW_H_

#include <cstdint>

#include "absl/time/time.h"

namespace ttl {

// The time at which tests of mappings judge: 2027-01-15T08:00:00Z.
inline constexpr int64_t kNowSeconds = 1'800'000'000;
inline const absl::Time kNow = absl::FromUnixSeconds(kNowSeconds);

}  // namespace ttl

#endif  // TTL_TESTS_UNIT_RPC_TEST_NOW_H_
