#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(60);

class SweeperAdoptionTest : public testing::Test {
 protected:
  // Long after the creation, with ten items at most before the brake.
  void CreateLongAgo(std::optional<int64_t> max_newly_due_items = std::nullopt) {
    harness.storage.Create("c", 100);
    if (max_newly_due_items.has_value()) SetBrake(*max_newly_due_items);
    harness.SweepFor(absl::Hours(1));
  }

  void SetBrake(int64_t max_newly_due_items) {
    ContainerSettings settings = harness.storage.Find("c")->settings;
    settings.brake = PolicyBrake{max_newly_due_items, std::nullopt, /*release_after_seconds=*/3600};
    ASSERT_TRUE(harness.storage.Update("c", settings).ok());
  }

  // The store has them, and they are reported at once.
  void Report(const std::string& prefix, int64_t count, int64_t age, bool adopted) {
    std::vector<ItemReport> reports;
    for (int64_t i = 0; i < count; ++i) {
      const ItemReport report = {KeyOf(absl::StrCat(prefix, i)),
                                 {{harness.Now() - age, {}}, "", {}, 0}};
      harness.store.Put("c", report.key, report.version);
      reports.push_back(report);
    }
    const absl::Time now = harness.guarded_clock->Read().now;
    const auto tracked = Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
      harness.storage->items().Track(harness.storage.Find("c")->number, std::move(reports),
                                     {now, now, kGrace, adopted}, std::move(done));
    });
    ASSERT_TRUE(tracked.ok()) << tracked.status();
  }

  absl::Status Confirm() {
    return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
             harness.storage->containers().ConfirmPolicy("c", "", harness.guarded_clock->Read().now,
                                                         std::move(done));
           })
        .status();
  }

  // Deletes sent over so long a time.
  int64_t Deletes(absl::Duration duration) { return harness.SweepFor(duration); }

  SweepHarness harness;
};

TEST_F(SweeperAdoptionTest, WhatIsDueWhenItIsAdoptedIsDeletedAGraceLater) {
  CreateLongAgo();
  Report("old", 3, 100'000, /*adopted=*/true);
  EXPECT_EQ(Deletes(absl::Seconds(59)), 0);
  EXPECT_EQ(Deletes(absl::Seconds(3)), 3);
}

TEST_F(SweeperAdoptionTest, AnOrdinaryReportWaitsForNothing) {
  CreateLongAgo(/*max_newly_due_items=*/1);
  Report("old", 3, 100'000, /*adopted=*/false);
  EXPECT_EQ(Deletes(absl::Seconds(2)), 3);
}

TEST_F(SweeperAdoptionTest, WhatBecomesDueLaterIsDeletedInItsTime) {
  CreateLongAgo();
  Report("young", 3, 95, /*adopted=*/true);
  EXPECT_EQ(Deletes(absl::Seconds(4)), 0);
  EXPECT_EQ(Deletes(absl::Seconds(3)), 3);
}

TEST_F(SweeperAdoptionTest, ReportsWithinAGraceOfTheCreationWaitAndBlockNothing) {
  harness.storage.Create("c", 100);
  Report("old", 3000, 100'000, /*adopted=*/false);
  Report("young", 1, 90, /*adopted=*/false);
  EXPECT_EQ(Deletes(absl::Seconds(13)), 1);
  EXPECT_EQ(Deletes(absl::Seconds(46)), 0);
  EXPECT_EQ(Deletes(absl::Seconds(10)), 3000);
}

TEST_F(SweeperAdoptionTest, AdoptionsDoNotRenewEachOthersGrace) {
  CreateLongAgo();
  for (int64_t i = 0; i < 5; ++i) {
    Report("same", 1, 100'000 + i * 10, /*adopted=*/true);  // one version, read again and again
    Report(absl::StrCat("other", i), 1, 100'000, /*adopted=*/true);
    EXPECT_EQ(Deletes(absl::Seconds(10)), 0);
  }
  EXPECT_EQ(Deletes(absl::Seconds(9)), 0);
  EXPECT_EQ(Deletes(absl::Seconds(3)), 2) << "the one, and the first of the others";
  EXPECT_EQ(Deletes(absl::Seconds(10)), 1);
}

TEST_F(SweeperAdoptionTest, TheWholeRunCountsForTheBrake) {
  CreateLongAgo(/*max_newly_due_items=*/10);
  for (int64_t i = 0; i < 11; ++i) {
    Report(absl::StrCat("old", i), 1, 100'000, /*adopted=*/true);
    // Spread over more than a grace: the first are deleted before the last are there.
    if (i < 10) Deletes(absl::Seconds(10));
  }
  const int64_t left = harness.storage->tallies().Tracked(harness.storage.Find("c")->number).items;
  EXPECT_LT(left, 11);
  EXPECT_EQ(Deletes(absl::Minutes(10)), 0);
  EXPECT_TRUE(Confirm().ok());
  EXPECT_EQ(Deletes(absl::Seconds(2)), left);
}

TEST_F(SweeperAdoptionTest, ABrakeGivenAtTheCreationHolds) {
  ContainerSettings settings;
  settings.policy.default_ttl = 100;
  settings.brake = PolicyBrake{10, std::nullopt, /*release_after_seconds=*/3600};
  const auto created = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    harness.storage->containers().Create("c", settings, kTestNow, std::move(done));
  });
  ASSERT_TRUE(created.ok());
  Report("old", 11, 100'000, /*adopted=*/false);
  EXPECT_EQ(Deletes(absl::Minutes(30)), 0);
  // A restart changes nothing.
  harness.Restart();
  EXPECT_EQ(Deletes(absl::Minutes(20)), 0);
  // Nor do others that are no more than the brake allows.
  Report("more", 1, 100'000, /*adopted=*/true);
  EXPECT_EQ(Deletes(absl::Minutes(5)), 0);
  EXPECT_EQ(Deletes(absl::Minutes(20)), 12) << "it lets go after an hour";
}

TEST_F(SweeperAdoptionTest, AConfirmationFreesWhatWaitsForItsGraceToo) {
  CreateLongAgo();
  Report("old", 3, 100'000, /*adopted=*/true);
  EXPECT_EQ(Deletes(absl::Seconds(5)), 0);
  EXPECT_TRUE(Confirm().ok());
  Report("later", 1, 100'000, /*adopted=*/true);
  EXPECT_EQ(Deletes(absl::Seconds(5)), 3);
  EXPECT_EQ(Deletes(absl::Seconds(60)), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(Confirm()));
}

TEST_F(SweeperAdoptionTest, WhatWaitsIsLeftAloneByALoosenedPolicyAndGoesOnUnderAStricterOne) {
  CreateLongAgo();
  Report("old", 1, 1000, /*adopted=*/true);
  harness.storage.SetDefaultTtl("c", 2000);
  EXPECT_EQ(Deletes(absl::Seconds(900)), 0);
  EXPECT_EQ(Deletes(absl::Seconds(200)), 1) << "its time has come";
}

TEST_F(SweeperAdoptionTest, ANewWriteOfAnItemThatWaitsIsAnOrdinaryOne) {
  CreateLongAgo();
  Report("old", 1, 100'000, /*adopted=*/true);
  Report("old", 1, 99'000, /*adopted=*/false);
  EXPECT_EQ(Deletes(absl::Seconds(2)), 1);
}

}  // namespace
}  // namespace ttl
