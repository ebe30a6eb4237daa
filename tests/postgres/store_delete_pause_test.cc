#include <gtest/gtest.h>

#include "client/postgres/store/deletes/delete_pause.h"

namespace ttl::postgres {
namespace {

TEST(DeletePauseTest, AQuarterIsWork) {
  EXPECT_EQ(DeletePause(absl::Milliseconds(20)), absl::Milliseconds(60));
  EXPECT_EQ(DeletePause(absl::ZeroDuration()), absl::ZeroDuration());
}

TEST(DeletePauseTest, IsNeverLongerThanASecond) {
  EXPECT_EQ(DeletePause(absl::Milliseconds(333)), absl::Milliseconds(999));
  EXPECT_EQ(DeletePause(absl::Seconds(30)), absl::Seconds(1));
}

TEST(DeletePauseTest, AClockThatWentBackNeedsNone) {
  EXPECT_EQ(DeletePause(-absl::Seconds(5)), absl::ZeroDuration());
}

}  // namespace
}  // namespace ttl::postgres
