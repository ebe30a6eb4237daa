#include "service/base/log_limiter.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/time/time.h"

namespace ttl {
namespace {

TEST(LogLimiterTest, OneLinePerKindAndInterval) {
  LogLimiter limiter(absl::Seconds(10));
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(100)), 0);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(101)), std::nullopt);
  EXPECT_EQ(limiter.Admit("b", absl::Seconds(101)), 0);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(109)), std::nullopt);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(110)), 2);  // two were left out
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(120)), 0);
}

TEST(LogLimiterTest, SomeLinesPerInterval) {
  LogLimiter limiter(absl::Seconds(10), 2);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(100)), 0);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(109)), 0);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(109)), std::nullopt);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(110)), 1);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(111)), 0);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(112)), std::nullopt);
}

TEST(LogLimiterTest, AClockThatWentBackSilencesNothing) {
  LogLimiter limiter(absl::Seconds(10));
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(1000)), 0);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(500)), 0);
  EXPECT_EQ(limiter.Admit("a", absl::Seconds(501)), std::nullopt);
}

TEST(LogLimiterTest, ManyKindsDoNotPileUp) {
  LogLimiter limiter(absl::Hours(1));
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_EQ(limiter.Admit(std::to_string(i), absl::Seconds(1)), 0);
  }
}

}  // namespace
}  // namespace ttl
