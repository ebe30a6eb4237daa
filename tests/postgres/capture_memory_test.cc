// A transaction of a million rows goes through a capture in little memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "tests/postgres/capture_process_fixture.h"

namespace ttl::postgres {
namespace {

// The most memory that this process ever had, in KiB.
int64_t PeakMemory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "VmHWM:")) continue;
    int64_t kib = 0;
    EXPECT_TRUE(absl::SimpleAtoi(line.substr(6, line.find('k') - 6), &kib));
    return kib;
  }
  ADD_FAILURE() << "no VmHWM";
  return 0;
}

class CaptureMemoryTest : public CaptureProcessFixture {};

TEST_F(CaptureMemoryTest, HugeTransactionTakesLittle) {
  capture_->Sql(kCreateSessions);
  capture_->Begin({Sessions()});
  ASSERT_TRUE(capture_->CatchUp());
  const int64_t restarts = capture_->status().restarts;
  const int64_t before = PeakMemory();
  capture_->Sql(
      "INSERT INTO sessions SELECT i, repeat('x', 50), to_timestamp(i), NULL "
      "FROM generate_series(1, 1000000) i");
  ASSERT_TRUE(capture_->CatchUp(absl::Seconds(120)));
  const CaptureStatus status = capture_->status();
  EXPECT_EQ(status.row_changes, 1'000'000);
  EXPECT_EQ(status.restarts, restarts);
  EXPECT_LT(PeakMemory() - before, 100 << 10);
}

}  // namespace
}  // namespace ttl::postgres
