#include "service/expiry/pace/recent_count.h"

#include <gtest/gtest.h>

namespace ttl {
namespace {

TEST(RecentCountTest, CountsTheLastSecond) {
  RecentCount count;
  EXPECT_EQ(count.Get(absl::Seconds(5)), 0);
  for (int i = 0; i < 50; ++i) count.Add(2, absl::Milliseconds(100) * i);
  const absl::Duration last = absl::Milliseconds(4900);
  EXPECT_EQ(count.Get(last), 22);
  EXPECT_EQ(count.Get(last + absl::Milliseconds(550)), 10);
  EXPECT_EQ(count.Get(last + absl::Seconds(1)), 2);
  EXPECT_EQ(count.Get(last + absl::Milliseconds(1001)), 0);
}

TEST(RecentCountTest, ManyWithinAHundredthAreOne) {
  RecentCount count;
  for (int i = 0; i < 1000; ++i) count.Add(1, absl::Microseconds(5) * i);
  EXPECT_EQ(count.Get(absl::Seconds(1)), 1000);
  EXPECT_EQ(count.Get(absl::Seconds(1) + absl::Microseconds(1)), 0);
}

}  // namespace
}  // namespace ttl
