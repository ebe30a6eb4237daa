#include "service/rpc/status/overdue_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class OverdueWatchTest : public testing::Test {
 protected:
  OverdueWatchTest() { harness_.storage.Create("c", -1); }

  // Lets time pass, while the sweeper works and the watch looks.
  void Pass(absl::Duration duration) {
    for (absl::Duration left = duration; left > absl::ZeroDuration(); left -= absl::Seconds(30)) {
      harness_.SweepFor(std::min(left, absl::Seconds(30)));
      watch_.RunOnce();
    }
  }
  void WriteDue(const std::string& container) {
    harness_.WriteMany(container, "due", 10, harness_.Now() - 5, 1);
  }
  void FailAll(grpc::StatusCode code) {
    harness_.store.SetBeforeDelete([code](auto&, auto&) { return grpc::Status(code, "scripted"); });
  }

  // Of the container "c".
  void SetWindows(const DeleteWindows& windows) {
    ContainerSettings settings = harness_.storage.Find("c")->settings;
    settings.windows = windows;
    ASSERT_TRUE(harness_.storage.Update("c", settings).ok());
  }

  void Hold(const std::string& container) {
    HoldRequest hold = {
        .hold_id = "h", .reason = "r", .author = "", .until = {}, .scope = AllItems{}};
    const auto placed = Await<absl::StatusOr<PlacedHold>>([&](auto done) {
      harness_.storage->holds().Place(container, hold, absl::FromUnixSeconds(harness_.Now()),
                                      std::move(done));
    });
    EXPECT_TRUE(placed.ok()) << placed.status();
  }

  void CreateGate(const std::string& container) {
    Subscription gate;
    gate.name = "archive";
    gate.gate = true;
    const auto created = Await<absl::StatusOr<SubscriptionView>>([&](auto done) {
      harness_.storage->feed().Subscribe(container, gate, absl::FromUnixSeconds(harness_.Now()),
                                         std::move(done));
    });
    ASSERT_TRUE(created.ok()) << created.status();
  }

  SweepHarness harness_;
  SentMarks sent_;
  const FeedView feeds_{{harness_.storage->feed(), harness_.feed_progress, sent_}};
  OverdueWatch watch_{{.storage = *harness_.storage,
                       .clock = *harness_.guarded_clock,
                       .system_clock = harness_.clock,
                       .published = harness_.published,
                       .usage = harness_.usage,
                       .limit = harness_.levers->limit(),
                       .trust = harness_.levers->store_trust(),
                       .container_max_deletes_per_second = std::nullopt},
                      feeds_,
                      *harness_.clock.Read().boot};
};

TEST_F(OverdueWatchTest, DeletesThatAllFailAreNoticedAfterAQuarterOfAnHour) {
  for (const auto code : {grpc::StatusCode::PERMISSION_DENIED, grpc::StatusCode::UNAVAILABLE}) {
    SCOPED_TRACE(code);
    WriteDue("c");
    FailAll(code);
    Pass(absl::Minutes(14));
    EXPECT_THAT(watch_.Reasons(), IsEmpty());
    Pass(absl::Minutes(2));
    EXPECT_THAT(watch_.Reasons(), ElementsAre(AllOf(HasSubstr("\"c\""), HasSubstr("due for 16m"))));
    harness_.store.SetBeforeDelete(nullptr);
    Pass(absl::Hours(1));
    EXPECT_THAT(watch_.Reasons(), IsEmpty());
  }
}

TEST_F(OverdueWatchTest, OneItemThatFailsBesideOthersThatGoIsNoTrouble) {
  harness_.Write("c", "stuck", harness_.Now() - 5, 1);
  harness_.store.Poison("c", KeyOf("stuck"), "locked");
  for (int i = 0; i < 40; ++i) {
    harness_.Write("c", absl::StrCat(i), harness_.Now() - 5, 1);
    Pass(absl::Minutes(1));
    EXPECT_THAT(watch_.Reasons(), IsEmpty());
  }
  Pass(absl::Minutes(6));
  EXPECT_THAT(watch_.Reasons(), ElementsAre(HasSubstr("wait for their next try")));
}

TEST_F(OverdueWatchTest, WhatAnOperatorOrAPolicyChoseIsNoTrouble) {
  const std::function<void()> choices[] = {
      [&] { harness_.storage.Pause("c", true); },
      [&] { harness_.SetLimit(0); },
      [&] { harness_.SetLimit(0.001); },
  };
  FailAll(grpc::StatusCode::INTERNAL);
  for (const auto& choose : choices) {
    choose();
    WriteDue("c");
    Pass(absl::Minutes(20));
    EXPECT_THAT(watch_.Reasons(), IsEmpty());
    harness_.storage.Pause("c", false);
    harness_.SetLimit(std::nullopt);
    Pass(absl::Minutes(1));
    EXPECT_THAT(watch_.Reasons(), SizeIs(1));
  }
}

TEST_F(OverdueWatchTest, AHoldOnTheContainerIsNoTrouble) {
  Hold("c");
  WriteDue("c");
  Pass(absl::Minutes(30));
  EXPECT_THAT(watch_.Reasons(), IsEmpty());
}

// The harness starts at 08:00 UTC.
TEST_F(OverdueWatchTest, TimeOutsideOfWindowsDoesNotCount) {
  SetWindows({{{DeleteWindow::kEveryDay, 9 * 60, 10 * 60, {}}}});
  WriteDue("c");
  FailAll(grpc::StatusCode::INTERNAL);
  Pass(absl::Hours(1) + absl::Minutes(14));
  EXPECT_THAT(watch_.Reasons(), IsEmpty()) << "the window has been open for 14 minutes";
  Pass(absl::Minutes(2));
  EXPECT_THAT(watch_.Reasons(), ElementsAre(HasSubstr("due for 1h16m")));
  Pass(absl::Hours(1));
  EXPECT_THAT(watch_.Reasons(), IsEmpty()) << "it is over";
}

TEST_F(OverdueWatchTest, ShortWindowsInWhichNothingIsDeletedAddUp) {
  std::vector<DeleteWindow> windows;
  for (int hour = 8; hour < 24; ++hour) {
    windows.push_back({DeleteWindow::kEveryDay, hour * 60 + 30, hour * 60 + 35, {}});
  }
  SetWindows({windows});
  WriteDue("c");
  FailAll(grpc::StatusCode::INTERNAL);
  Pass(absl::Hours(2) + absl::Minutes(34));
  EXPECT_THAT(watch_.Reasons(), IsEmpty()) << "open for 14 minutes";
  Pass(absl::Hours(1) - absl::Minutes(1));
  EXPECT_THAT(watch_.Reasons(), SizeIs(1));
}

TEST_F(OverdueWatchTest, HoldsInDoubtAreToldUntilTheyAreAccepted) {
  for (int i = 0; i < 8; ++i) {
    ContainerSettings settings;
    settings.policy.default_ttl = -1;
    settings.requires_holds = true;
    const auto created = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
      harness_.storage->containers().Create(absl::StrCat("h", i), settings,
                                            absl::FromUnixSeconds(harness_.Now()), std::move(done));
    });
    ASSERT_TRUE(created.ok()) << created.status();
  }
  watch_.RunOnce();
  ASSERT_THAT(watch_.HoldsInDoubt(), SizeIs(OverdueWatch::kMaxReasons + 1));
  EXPECT_THAT(watch_.HoldsInDoubt()[0],
              AllOf(HasSubstr("The holds of container \"h0\" are not known to be complete"),
                    HasSubstr("ttlctl holds accept \"h0\".")));
  EXPECT_THAT(watch_.HoldsInDoubt().back(), HasSubstr("up to 3 more containers"));
  EXPECT_EQ(watch_.count(), 0u) << "none is overdue yet";
  for (int i = 0; i < 8; ++i) {
    const auto accepted = Await<absl::Status>([&](auto done) {
      harness_.storage->holds().Accept(absl::StrCat("h", i), kTestNow, std::move(done));
    });
    ASSERT_TRUE(accepted.ok()) << accepted;
  }
  EXPECT_THAT(watch_.HoldsInDoubt(), IsEmpty()) << "at once";
}

TEST_F(OverdueWatchTest, AfterAStartDeletesHaveTheirTime) {
  harness_.WriteMany("c", "due", 10, harness_.Now() - 10'000, 1);
  FailAll(grpc::StatusCode::INTERNAL);
  Pass(absl::Minutes(4));
  EXPECT_THAT(watch_.Reasons(), IsEmpty());
  Pass(absl::Minutes(2));
  EXPECT_THAT(watch_.Reasons(), SizeIs(1));
}

TEST_F(OverdueWatchTest, ManyAreSummedUp) {
  for (int i = 0; i < 20; ++i) {
    const std::string container = absl::StrCat("more-", i);
    harness_.storage.Create(container, -1);
    harness_.Write(container, "due", harness_.Now() - 10'000, 1);
  }
  FailAll(grpc::StatusCode::INTERNAL);
  Pass(absl::Minutes(6));
  const std::vector<std::string> reasons = watch_.Reasons();
  ASSERT_THAT(reasons, SizeIs(OverdueWatch::kMaxReasons + 1));
  EXPECT_THAT(reasons.back(), HasSubstr("15 more"));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(harness_.storage.Delete(absl::StrCat("more-", i)).ok());
  }
  watch_.RunOnce();
  EXPECT_THAT(watch_.Reasons(), IsEmpty());
}

TEST_F(OverdueWatchTest, AGateForWhichDeletesWaitForMoreThanAnHourIsATrouble) {
  harness_.CreateWithFeed("f", -1);
  ASSERT_NO_FATAL_FAILURE(CreateGate("f"));
  WriteDue("f");
  Pass(absl::Minutes(59));
  EXPECT_THAT(watch_.Gates(), IsEmpty());
  Pass(absl::Minutes(2));
  EXPECT_THAT(watch_.Gates(),
              ElementsAre(AllOf(HasSubstr("Deletes of container \"f\" wait for subscription "
                                          "\"archive\", which has not acknowledged an event of 1h"),
                                HasSubstr("ttlctl subscriptions list \"f\"."))));
  EXPECT_THAT(watch_.Reasons(), IsEmpty()) << "items that wait are not overdue";
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                harness_.storage->feed().Unsubscribe("f", "archive", std::move(done));
              }).ok());
  Pass(absl::Minutes(1));
  EXPECT_THAT(watch_.Gates(), IsEmpty());
  EXPECT_EQ(harness_.TallyOf("f").deleted, 10);
}

TEST_F(OverdueWatchTest, AGateThatFillsTheLogIsATroubleAtOnce) {
  harness_.CreateWithFeed("f", -1, {.max_bytes = FeedSettings::kMinMaxBytes});
  ASSERT_NO_FATAL_FAILURE(CreateGate("f"));
  harness_.WriteMany("f", std::string(1000, 'x'), 1200, harness_.Now() - 5, 1);
  harness_.AnnounceNow();
  watch_.RunOnce();
  EXPECT_THAT(watch_.Gates(),
              ElementsAre(HasSubstr("The feed of container \"f\" is full because subscription "
                                    "\"archive\" has not acknowledged its oldest event")));
}

}  // namespace
}  // namespace ttl
