#include "service/expiry/pace/retry_delay.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace ttl {
namespace {

TEST(RetryDelayTest, DoublesFromASecondToAnHour) {
  struct Case {
    int64_t attempts;
    absl::Duration delay;
  };
  const Case cases[] = {
      {-1, absl::ZeroDuration()},
      {0, absl::ZeroDuration()},
      {1, absl::Seconds(1)},
      {2, absl::Seconds(2)},
      {3, absl::Seconds(4)},
      {12, absl::Seconds(2048)},
      {13, absl::Hours(1)},
      {1000, absl::Hours(1)},
      {std::numeric_limits<int64_t>::max(), absl::Hours(1)},
  };
  for (const Case& c : cases) EXPECT_EQ(RetryDelay(c.attempts), c.delay) << c.attempts;
}

}  // namespace
}  // namespace ttl
