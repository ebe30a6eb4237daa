// The sweep and touched items (storage/touches.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::SizeIs;

void Create(SweepHarness& h, std::optional<int64_t> default_ttl) {
  h.storage.Create("c", default_ttl);
  h.storage.AllowTouch("c");
}

// Begins to touch an item by the clock of the harness.
std::future<absl::StatusOr<TouchedItems>> BeginTouch(SweepHarness& h, const std::string& id,
                                                     Touches::ReadTime read_time) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<TouchedItems>>>();
  h.storage->touches().Touch(h.storage.Find("c")->number, {{KeyOf(id)}}, std::move(read_time),
                             [promise](auto touched) { promise->set_value(std::move(touched)); });
  return promise->get_future();
}

TEST(SweeperTouchTest, ATouchedItemIsDeletedAtItsNewSecondAndNotBefore) {
  for (const std::optional<int64_t> ttl : {std::optional<int64_t>(), std::optional<int64_t>(60)}) {
    SweepHarness h;
    Create(h, 60);
    h.Write("c", "a", kStart, ttl);
    h.Write("c", "untouched", kStart, ttl);
    h.SweepFor(absl::Seconds(50));
    h.storage.TouchOne("c", "a", h.Now());
    h.SweepFor(absl::Seconds(59));
    EXPECT_EQ(h.store.Count("c"), 1) << "the other one is deleted";
    h.SweepFor(absl::Seconds(1));
    EXPECT_EQ(h.store.Count("c"), 0);
    ASSERT_THAT(h.store.ReceivedDeletes(), SizeIs(2));
    const v1::ExpiredItem& sent = h.store.ReceivedDeletes()[1].request.items(0);
    EXPECT_EQ(sent.ts(), kStart) << "the store compares it";
    EXPECT_EQ(sent.effective_ttl(), 60);
    EXPECT_EQ(sent.expire_time(), kStart + 110);
    EXPECT_FALSE(h.storage.FindItem("c", "a").has_value());
  }
}

TEST(SweeperTouchTest, ADelayCountsFromTheEndThatATouchHasMoved) {
  SweepHarness h;
  Create(h, 60);
  ContainerSettings settings = h.storage.Find("c")->settings;
  settings.policy.delay_seconds = 30;
  ASSERT_TRUE(h.storage.Update("c", settings).ok());
  h.Write("c", "a", kStart);
  h.SweepFor(absl::Seconds(50));
  h.storage.TouchOne("c", "a", h.Now());
  h.SweepFor(absl::Seconds(89));
  EXPECT_EQ(h.store.Count("c"), 1);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// The touch is judged in the last second of the item and committed after it, when the sweep has
// found the item and sent its delete.
TEST(SweeperTouchTest, ATouchThatADeleteInFlightOvertakesSaysThatTheItemIsGone) {
  SweepHarness h;
  Create(h, 60);
  h.Write("c", "a", kStart);
  h.SweepFor(absl::Seconds(59));
  const JudgingTime judged = h.guarded_clock->Read();
  bool is_first = true;
  auto touched = BeginTouch(h, "a", [&] {
    if (!is_first) return h.guarded_clock->Read();
    is_first = false;
    h.clock.Advance(absl::Seconds(1));
    h.RunOnce();
    return judged;
  });
  h.Write("c", "b", kStart + 60);  // committed after the touch
  EXPECT_NE(touched.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  h.SweepNow();
  EXPECT_EQ(touched.get()->items.at(0).outcome, TouchOutcome::kNotTracked);
  EXPECT_EQ(h.store.Count("c"), 1);
}

// The store has the version that was sent, and says that it has another one.
TEST(SweeperTouchTest, TheVersionOfATouchedItemIsNotTakenForAnotherOne) {
  SweepHarness h;
  Create(h, 60);
  h.Write("c", "a", kStart);
  h.storage.TouchOne("c", "a", kStart + 10);
  h.store.SetAfterDelete([&](const auto&, auto& response) {
    v1::DeleteResult& result = *response.mutable_results(0);
    result.set_outcome(v1::DELETE_OUTCOME_MODIFIED);
    result.mutable_current()->set_ts(kStart);
    return grpc::Status::OK;
  });
  h.SweepFor(absl::Seconds(70));
  EXPECT_EQ(h.TallyOf("c").modified, 0);
  EXPECT_EQ(h.TallyOf("c").unanswered, 1);
  EXPECT_EQ(h.storage.FindItem("c", "a")->attempts, 1);
}

}  // namespace
}  // namespace ttl
