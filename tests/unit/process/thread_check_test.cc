#include "service/process/thread_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttl {
namespace {

TEST(ThreadCheckTest, ThreadsThatCanBeStartedAreFine) {
  EXPECT_EQ(CheckThreads(0), absl::OkStatus());
  EXPECT_EQ(CheckThreads(50), absl::OkStatus());
  EXPECT_EQ(CheckThreads(50), absl::OkStatus()) << "the first ones have not ended";
}

}  // namespace
}  // namespace ttl
