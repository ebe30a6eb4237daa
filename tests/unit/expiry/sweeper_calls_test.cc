// Calls to the store that are under way at the same time.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

// Steps as they come, calls or no calls under way, until `done`. The fake clock goes
// like the real one.
bool StepUntil(SweepHarness& h, const std::function<bool()>& done) {
  absl::Time last = absl::Now();
  return WaitUntil(
      [&] {
        h.RunOnce();
        const absl::Time now = absl::Now();
        h.clock.Advance(now - last);
        last = now;
        return done();
      },
      absl::Seconds(20), absl::Milliseconds(1));
}

// Calls hang until they are released, however long the machine stands still meanwhile.
SweeperOptions Patient() {
  SweeperOptions options;
  options.delete_deadline = absl::Minutes(10);
  return options;
}

void CreateWithDue(SweepHarness& h, const std::string& container, int64_t count) {
  h.storage.Create(container, -1);
  h.WriteMany(container, "due", count, kStart - 1000, 10);
}

TEST(SweeperCallsTest, AHangingContainerDisturbsNoOther) {
  SweepHarness h(Patient());
  CreateWithDue(h, "a-hangs", 100);
  CreateWithDue(h, "b-works", 2000);
  h.store.Hang("a-hangs");
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.Count("b-works") == 0; }));
  EXPECT_EQ(h.store.HangingCalls(), 1);
  EXPECT_EQ(h.store.Count("a-hangs"), 100);
  EXPECT_TRUE(StepUntil(h, [&] { return h.published.Sweeper().calls_under_way == 1; }));
  h.store.Release();
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.Count("a-hangs") == 0; }));
}

TEST(SweeperCallsTest, ManyHangingContainersLeaveRoomForTheOthers) {
  SweeperOptions options;
  options.delete_deadline = absl::Milliseconds(200);
  SweepHarness h(options);
  for (int i = 0; i < 12; ++i) CreateWithDue(h, absl::StrCat("hangs-", i), 10);
  CreateWithDue(h, "works", 10);
  h.store.SetBeforeDelete([&](auto& request, auto&) -> std::optional<grpc::Status> {
    if (request.container() == "works") return std::nullopt;
    return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "as if it had hung");
  });
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.Count("works") == 0; }));
  // All the others are known to hang by now, or soon.
  h.store.SetBeforeDelete(nullptr);
  h.store.Hang("hangs-0");
  h.WriteMany("works", "more", 10, kStart - 1000, 10);
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.Count("works") == 0; }));
  h.store.Release();
}

TEST(SweeperCallsTest, OneCallPerContainerAndSoManyInAll) {
  for (const int64_t most : {1, 2, 4}) {
    SweeperOptions options = Patient();
    options.max_calls_under_way = most;
    SweepHarness h(options);
    for (int i = 0; i < 6; ++i) CreateWithDue(h, absl::StrCat("c", i), 600);
    h.store.Hang();
    EXPECT_TRUE(StepUntil(h, [&] { return h.store.HangingCalls() == most; }));
    for (int i = 0; i < 20; ++i) h.RunOnce();
    EXPECT_EQ(h.store.ReceivedDeletes().size(), static_cast<size_t>(most));
    h.store.Release();
    EXPECT_TRUE(StepUntil(h, [&] { return h.store.CountAll() == 0; }));
  }
}

TEST(SweeperCallsTest, AHangingCallFreesItsSlotAtTheDeadline) {
  SweeperOptions options;
  options.max_calls_under_way = 1;
  options.delete_deadline = absl::Milliseconds(300);
  SweepHarness h(options);
  CreateWithDue(h, "a-hangs", 10);
  CreateWithDue(h, "b-works", 10);
  h.store.Hang("a-hangs");
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.Count("b-works") == 0; }));
  h.store.Release();
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.Count("a-hangs") == 0; }));
}

// P4: a loosening waits for the call of its container, and only for that.
TEST(SweeperCallsTest, AChangeWaitsForTheCallsOfItsOwnContainerOnly) {
  SweepHarness h(Patient());
  CreateWithDue(h, "a-hangs", 10);
  CreateWithDue(h, "b-idle", 0);
  h.store.Hang("a-hangs");
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.HangingCalls() == 1; }));
  EXPECT_FALSE(h.storage.SetDefaultTtl("b-idle", std::nullopt)->settings.policy.default_ttl);
  bool changed = false;
  h.storage->containers().Update(
      "a-hangs",
      [](const Container& present) -> absl::StatusOr<ContainerSettings> {
        ContainerSettings settings = present.settings;
        settings.policy.default_ttl = std::nullopt;
        return settings;
      },
      kTestNow, absl::ZeroDuration(), /*force=*/false,
      [&](const absl::StatusOr<ContainerPtr>& result) { changed = result.ok(); });
  h.RunOnce();
  EXPECT_FALSE(changed);
  h.store.Release();
  EXPECT_TRUE(StepUntil(h, [&] { return changed; }));
}

TEST(SweeperCallsTest, DestroyedInTheMiddleOfCallsItLosesNoOutcome) {
  SweepHarness h(Patient());
  CreateWithDue(h, "c", 10);
  h.store.Hang();
  EXPECT_TRUE(StepUntil(h, [&] { return h.store.HangingCalls() == 1; }));
  h.client().Cancel();
  h.store.Release();
  h.Restart();
  EXPECT_TRUE(StepUntil(h, [&] { return h.storage.DueIds("c", kStart).empty(); }));
  EXPECT_EQ(h.store.Count("c"), 0);
}

}  // namespace
}  // namespace ttl
