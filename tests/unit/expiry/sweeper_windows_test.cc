// Windows of deletes: what is sent when, counted at the store. The harness starts on a Friday at
// 08:00 UTC.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "service/core/windows/window_text.h"
#include "tests/testing/rate_bound.h"
#include "tests/testing/sweep_harness.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

DeleteWindow Window(const std::string& start, const std::string& end,
                    std::optional<double> rate = std::nullopt) {
  return {DeleteWindow::kEveryDay, *ParseTimeOfDay(start), *ParseTimeOfDay(end), rate};
}

void SetWindows(SweepHarness& h, const std::string& container,
                std::optional<DeleteWindows> windows) {
  ContainerSettings settings = h.storage.Find(container)->settings;
  settings.windows = std::move(windows);
  const auto updated = h.storage.Update(container, settings);
  ASSERT_TRUE(updated.ok()) << updated.status();
}

// When batches arrived, from the start on.
std::vector<DeleteBatch> Arrivals(const SweepHarness& h) {
  std::vector<DeleteBatch> arrivals;
  for (const auto& received : h.store.ReceivedDeletes()) {
    arrivals.push_back({received.at - kTestNow, received.request.items_size()});
  }
  return arrivals;
}

class SweeperWindowsTest : public testing::Test {
 protected:
  SweeperWindowsTest() {
    h_.storage.Create("c", -1);
    h_.SweepNow();  // knows the store
  }

  void WriteDue(int64_t count) { h_.WriteMany("c", "due", count, kStart - 3600, 60); }

  SweepHarness h_;
};

TEST_F(SweeperWindowsTest, NothingIsSentUntilOneOpens) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:10", "08:20")}, ""});
  WriteDue(300);
  EXPECT_EQ(h_.SweepFor(absl::Minutes(10) - absl::Seconds(1)), 0);
  EXPECT_EQ(h_.SweepFor(absl::Seconds(2)), 300);
}

TEST_F(SweeperWindowsTest, ThatOfAnotherContainerHoldsNothingBack) {
  h_.storage.Create("d", -1);
  SetWindows(h_, "d", DeleteWindows{{Window("08:10", "08:20")}, ""});
  h_.WriteMany("d", "due", 5, kStart - 3600, 60);
  WriteDue(5);
  EXPECT_EQ(h_.SweepFor(absl::Seconds(5)), 5);
}

TEST_F(SweeperWindowsTest, NothingIsSentAfterTheEnd) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:00", "08:01", 100)}, ""});
  WriteDue(8000);
  const int64_t sent = h_.SweepFor(absl::Minutes(3));
  EXPECT_LE(sent, 100 * 60 + 10);
  EXPECT_GE(sent, 100 * 60 - 10);
  for (const DeleteBatch& batch : Arrivals(h_)) EXPECT_LT(batch.at, absl::Minutes(1));
}

TEST_F(SweeperWindowsTest, ARateIsNotExceededAfterItsWindow) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:00", "08:01", 200)}, "", 3});
  WriteDue(20000);
  h_.SweepFor(absl::Minutes(2));
  std::vector<DeleteBatch> after = Arrivals(h_);
  std::erase_if(after, [](const DeleteBatch& batch) { return batch.at < absl::Minutes(1); });
  ASSERT_FALSE(after.empty());
  EXPECT_LE(WorstExcess(after, 3), 1 + 1e-6);
}

TEST_F(SweeperWindowsTest, ALargerRateIsUsedWhenItsWindowOpens) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:01", "08:02", 100)}, "", 0.1});
  WriteDue(20000);
  EXPECT_LE(h_.SweepFor(absl::Minutes(1)), 7);
  const int64_t sent = h_.SweepFor(absl::Minutes(1));
  EXPECT_LE(sent, 100 * 60 + 10);
  EXPECT_GE(sent, 100 * 57);
}

TEST_F(SweeperWindowsTest, ABatchThatWasFoundInAWindowIsNotSentAfterIt) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:00", "08:10")}, ""});
  WriteDue(5);
  h_.clock.Advance(absl::Minutes(10) - absl::Seconds(1));
  const auto step = h_.RunOnceWith([&] { h_.clock.Advance(absl::Seconds(1)); });
  EXPECT_EQ(step.found, 5);
  EXPECT_EQ(step.sent, 0);
}

TEST_F(SweeperWindowsTest, ASuspectClockDeletesNothingInAWindow) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:00", "12:00")}, ""});
  h_.clock.StepWall(absl::Hours(1));
  WriteDue(5);
  EXPECT_EQ(h_.SweepFor(absl::Minutes(2)), 0);
  h_.clock.StepWall(absl::Hours(-1));
  EXPECT_EQ(h_.SweepFor(absl::Minutes(2)), 5);
}

TEST_F(SweeperWindowsTest, OneIsOpenOnlyIfBothReadingsOfTheClockSaySo) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:10", "08:20")}, ""});
  WriteDue(5);
  h_.clock.Advance(absl::Minutes(10) - absl::Seconds(2));
  h_.clock.StepWall(absl::Seconds(3));  // sound, and by the wall clock the window is open
  EXPECT_EQ(h_.SweepFor(absl::Seconds(1)), 0);
  EXPECT_EQ(h_.SweepFor(absl::Seconds(10)), 5);
}

TEST_F(SweeperWindowsTest, WindowsThatAreRemovedHoldNothingBack) {
  SetWindows(h_, "c", DeleteWindows{{Window("12:00", "13:00")}, ""});
  WriteDue(5);
  EXPECT_EQ(h_.SweepFor(absl::Minutes(1)), 0);
  SetWindows(h_, "c", std::nullopt);
  EXPECT_EQ(h_.SweepNow(), 5);
}

TEST_F(SweeperWindowsTest, OthersThatOpenEarlierAreRespectedAtOnce) {
  SetWindows(h_, "c", DeleteWindows{{Window("12:00", "13:00")}, ""});
  WriteDue(5);
  EXPECT_EQ(h_.SweepFor(absl::Minutes(1)), 0);
  SetWindows(h_, "c", DeleteWindows{{Window("08:02", "13:00")}, ""});
  EXPECT_EQ(h_.SweepFor(absl::Seconds(59)), 0);
  EXPECT_EQ(h_.SweepFor(absl::Seconds(2)), 5);
}

TEST_F(SweeperWindowsTest, TimeOutsideOfWindowsIsNoLateness) {
  SetWindows(h_, "c", DeleteWindows{{Window("08:10", "08:20")}, ""});
  WriteDue(5);
  EXPECT_EQ(h_.SweepFor(absl::Minutes(11)), 5);
  const auto record = h_.published.View(h_.storage.Find("c")->number).deletes;
  EXPECT_LE(record.lateness.sum, 5 * absl::Seconds(2));
  EXPECT_EQ(record.lateness.counts[0] + record.lateness.counts[1], 5);
}

TEST_F(SweeperWindowsTest, EarlyEntriesAreMovedOutsideOfWindows) {
  SetWindows(h_, "c", DeleteWindows{{Window("12:00", "13:00")}, ""});
  h_.WriteMany("c", "rewritten", 20, kStart - 3600, 3600);
  h_.WriteMany("c", "rewritten", 20, kStart - 10, 3600);
  h_.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h_.published.View(h_.storage.Find("c")->number).early_entries, 20);
}

}  // namespace
}  // namespace ttl
