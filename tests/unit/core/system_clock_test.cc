#include "service/core/system_clock.h"

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

TEST(SystemClockTest, WallIsTheTimeOfDay) {
  const absl::Time before = absl::Now();
  const ClockReading reading = SystemClock().Read();
  const absl::Time after = absl::Now();
  ASSERT_TRUE(reading.wall.has_value());
  EXPECT_LE(before, *reading.wall + absl::Milliseconds(1));
  EXPECT_LE(*reading.wall, after + absl::Milliseconds(1));
}

TEST(SystemClockTest, BootClockNeverGoesBack) {
  const SystemClock clock;
  absl::Duration last = absl::ZeroDuration();
  for (int i = 0; i < 1000; ++i) {
    const ClockReading reading = clock.Read();
    ASSERT_TRUE(reading.boot.has_value());
    ASSERT_GE(*reading.boot, last);
    last = *reading.boot;
  }
  EXPECT_GT(last, absl::ZeroDuration());
}

TEST(SystemClockTest, BootIdIsTheSameForEveryClock) {
  EXPECT_FALSE(SystemClock().BootId().empty());
  EXPECT_EQ(SystemClock().BootId(), SystemClock().BootId());
}

}  // namespace
}  // namespace ttl
