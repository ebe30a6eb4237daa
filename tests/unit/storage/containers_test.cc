#include "service/storage/containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "service/base/wake_signal.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ContainerSettings Settings(std::optional<int64_t> default_ttl,
                           IndexingMode mode = IndexingMode::kConsistent) {
  ContainerSettings settings;
  settings.policy.default_ttl = default_ttl;
  settings.indexing_mode = mode;
  return settings;
}

// Field report B12: three states must not be squeezed into one number.
TEST(ContainersTest, EachStateOfDefaultTtlReadsBackAlsoAfterReopening) {
  StorageForTest storage;
  storage.Create("c", std::nullopt);
  for (const std::optional<int64_t> ttl :
       {std::optional<int64_t>(60), std::optional<int64_t>(-1), std::optional<int64_t>(),
        std::optional<int64_t>(2147483647), std::optional<int64_t>(60)}) {
    storage.SetDefaultTtl("c", ttl);
    EXPECT_EQ(storage.Find("c")->settings.policy.default_ttl, ttl);
    storage.Reopen();
    EXPECT_EQ(storage.Find("c")->settings.policy.default_ttl, ttl);
  }
}

// Clients tell a container from its namesake by it.
TEST(ContainersTest, TimesAreTheSameAfterReopening) {
  StorageForTest storage;
  const absl::Time now = kTestNow + absl::Nanoseconds(123'456'789);
  ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                storage->containers().Create("c", Settings(60), now, std::move(done));
              }).ok());
  const ContainerPtr before = storage.Find("c");
  EXPECT_LT(now - before->create_time, absl::Microseconds(1));
  storage.Reopen();
  EXPECT_EQ(storage.Find("c")->create_time, before->create_time);
  EXPECT_EQ(storage.Find("c")->update_time, before->update_time);
}

TEST(ContainersTest, RefusalsChangeNothing) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.Create("none", std::nullopt, IndexingMode::kNone);
  const auto create = [&](const std::string& id, const ContainerSettings& settings) {
    return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
             storage->containers().Create(id, settings, kTestNow, std::move(done));
           })
        .status()
        .code();
  };
  EXPECT_EQ(create("c", Settings(1)), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(create("", Settings(1)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(create("d", Settings(0)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(create("d", Settings(60, IndexingMode::kNone)), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(storage.Update("c", Settings(0)).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(storage.Update("x", Settings(1)).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(storage.Update("none", Settings(60, IndexingMode::kNone)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(storage.Update("c", Settings(60, IndexingMode::kNone)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(storage.Find("c")->settings, Settings(60));
  EXPECT_EQ(storage.Find("c")->revision, 1u);
  EXPECT_EQ(storage.Find("d"), nullptr);
}

TEST(ContainersTest, ManyCreationsOfOneNameAtOnceMakeOneContainer) {
  StorageForTest storage;
  std::atomic<int> created = 0;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 100; ++i) {
    storage->containers().Create(
        "c", Settings(60), kTestNow,
        [&](absl::StatusOr<ContainerPtr> container) { container.ok() ? ++created : ++refused; });
  }
  storage.Reopen();
  EXPECT_EQ(created, 1);
  EXPECT_EQ(refused, 99);
  EXPECT_THAT(storage->containers().All(), SizeIs(1));
}

TEST(ContainersTest, ARecreatedContainerKnowsNothingOfItsNamesake) {
  StorageForTest storage;
  const uint64_t first = storage.Create("c", 60)->number;
  storage.TrackOne("c", "a", kT);
  ASSERT_TRUE(storage.Delete("c").ok());
  EXPECT_EQ(storage.Find("c"), nullptr);
  const uint64_t second = storage.Create("c", std::nullopt)->number;
  EXPECT_NE(first, second);
  EXPECT_FALSE(storage.FindItem("c", "a").has_value());
  storage.TrackOne("c", "b", kT);
  storage.FinishHousekeeping();
  EXPECT_TRUE(storage.FindItem("c", "b").has_value());
  storage.SetDefaultTtl("c", 60);
  EXPECT_THAT(storage.DueIds("c", kT + 60), ElementsAre("b"));
}

TEST(ContainersTest, NumbersAreNeverUsedTwiceAlsoAfterReopening) {
  StorageForTest storage;
  uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    const uint64_t number = storage.Create("c", 60)->number;
    EXPECT_GT(number, last);
    last = number;
    ASSERT_TRUE(storage.Delete("c").ok());
    storage.FinishHousekeeping();
    storage.Reopen();
  }
}

TEST(ContainersTest, DeletingIsConstantWorkAndPurgesInTheBackground) {
  StorageForTest storage;
  const uint64_t number = storage.Create("c", 60)->number;
  std::vector<ItemReport> reports;
  for (int i = 0; i < 3500; ++i) {
    reports.push_back({KeyOf(absl::StrCat(i)), {{kT, {}}, "", {}, 0}});
  }
  ASSERT_TRUE(storage.Track("c", reports).ok());
  const auto before = storage->Counts();
  ASSERT_TRUE(storage.Delete("c").ok());
  const auto after = storage->Counts();
  EXPECT_LE(after.puts + after.deletes - before.puts - before.deletes, 4);
  storage.Reopen();  // in the middle of it
  storage.FinishHousekeeping();
  EXPECT_THAT(*storage->items().List(number, std::nullopt, 10), IsEmpty());
  EXPECT_FALSE(storage->RunHousekeeping());
}

TEST(ContainersTest, DeleteWithAnEtagThatIsNotCurrentIsAborted) {
  StorageForTest storage;
  const std::string etag = ContainerEtag(*storage.Create("c", 60));
  storage.SetDefaultTtl("c", 61);
  const auto remove = [&](const std::string& with) {
    return Await<absl::Status>([&](auto done) {
      storage->containers().Delete("c", with, /*force=*/false, std::move(done));
    });
  };
  EXPECT_EQ(remove(etag).code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(remove(etag).message()), HasSubstr("read it again"));
  EXPECT_TRUE(remove(ContainerEtag(*storage.Find("c"))).ok());
}

TEST(ContainersTest, LeavingModeNoneBuildsTheIndexInTheBackground) {
  StorageForTest storage;
  storage.Create("c", std::nullopt, IndexingMode::kNone);
  std::vector<ItemReport> reports;
  for (int i = 0; i < 2500; ++i) {
    reports.push_back({KeyOf(absl::StrCat(i)), {{kT, {}}, "", {}, 0}});
  }
  ASSERT_TRUE(storage.Track("c", reports).ok());
  ASSERT_TRUE(storage.Update("c", Settings(60)).ok());
  ASSERT_TRUE(storage.Find("c")->index_build.has_value());
  storage->RunHousekeeping();
  EXPECT_EQ(storage.Find("c")->index_build->items_indexed, 1000);
  storage.Reopen();  // progress is kept
  EXPECT_EQ(storage.Find("c")->index_build->items_indexed, 1000);
  storage.TrackOne("c", "during", kT, 5);
  storage.UntrackOne("c", "2400", kT);
  storage.FinishHousekeeping();
  EXPECT_FALSE(storage.Find("c")->index_build.has_value());
  EXPECT_THAT(storage.Scan("c", kT + 60, 10000).due, SizeIs(2500));
}

TEST(ContainersTest, SwitchingToModeNonePurgesTheIndexAndComingBackBuildsAnother) {
  StorageForTest storage;
  storage.Create("c", std::nullopt);
  storage.TrackOne("c", "a", kT, 5);
  const uint64_t first_index = storage.Find("c")->index_number;
  ASSERT_TRUE(storage.Update("c", Settings(std::nullopt, IndexingMode::kNone)).ok());
  EXPECT_EQ(storage.Find("c")->index_number, 0u);
  ASSERT_TRUE(storage.Update("c", Settings(-1, IndexingMode::kLazy)).ok());
  EXPECT_NE(storage.Find("c")->index_number, first_index);
  storage.FinishHousekeeping();
  EXPECT_THAT(storage.DueIds("c", kT + 5), ElementsAre("a"));
}

TEST(ContainersTest, PausesAreDurableAndAreNotAChangeOfConfiguration) {
  StorageForTest storage;
  const std::string etag = ContainerEtag(*storage.Create("c", 60));
  storage.Pause("c", true);
  storage.Reopen();
  EXPECT_EQ(storage.Find("c")->pause->reason, "test");
  EXPECT_EQ(ContainerEtag(*storage.Find("c")), etag);
  storage.Pause("c", false);
  EXPECT_FALSE(storage.Find("c")->pause.has_value());

  const auto pause_all = [&](std::optional<Pause> pause) {
    return Await<absl::Status>(
        [&](auto done) { storage->containers().SetPauseOfAll(std::move(pause), std::move(done)); });
  };
  ASSERT_TRUE(pause_all(Pause{"all", kTestNow}).ok());
  storage.Reopen();
  EXPECT_EQ(storage->containers().PauseOfAll()->reason, "all");
  ASSERT_TRUE(pause_all(std::nullopt).ok());
  storage.Reopen();
  EXPECT_FALSE(storage->containers().PauseOfAll().has_value());
}

TEST(ContainersTest, AChangeWaitsForDeletesOnTheirWay) {
  StorageForTest storage;
  const uint64_t number = storage.Create("c", 60)->number;
  auto pass = storage->delete_gate().TryEnter(number);
  ASSERT_TRUE(pass.has_value());
  std::promise<absl::StatusOr<ContainerPtr>> promise;
  auto updated = promise.get_future();
  storage->containers().Update(
      "c", [](const Container&) { return Settings(std::nullopt); }, kTestNow, absl::ZeroDuration(),
      /*force=*/false, [&](absl::StatusOr<ContainerPtr> c) { promise.set_value(std::move(c)); });
  // Nothing more is sent, and the change is not yet made.
  EXPECT_FALSE(storage->delete_gate().TryEnter(number).has_value());
  EXPECT_EQ(storage.Find("c")->settings.policy.default_ttl, 60);
  pass.reset();
  ASSERT_TRUE(updated.get().ok());
  EXPECT_EQ(storage.Find("c")->settings.policy.default_ttl, std::nullopt);
  EXPECT_TRUE(storage->delete_gate().TryEnter(number).has_value());
}

TEST(ContainersTest, ARefusedChangeDoesNotWaitForDeletesOnTheirWay) {
  StorageForTest storage;
  const auto pass = storage->delete_gate().TryEnter(storage.Create("c", 60)->number);
  EXPECT_EQ(storage.Update("c", Settings(0)).status().code(), absl::StatusCode::kInvalidArgument);
}

// A container of 100 items aged 1 to 100 seconds, with a brake.
class BrakeTest : public testing::Test {
 protected:
  BrakeTest() { Set(std::nullopt, PolicyBrake{10, std::nullopt, 3600}, /*create=*/true); }

  ContainerPtr Set(std::optional<int64_t> default_ttl, std::optional<PolicyBrake> brake,
                   bool create = false) {
    if (create) {
      storage_.Create("c", default_ttl);
      std::vector<ItemReport> reports;
      for (int age = 1; age <= 100; ++age) {
        reports.push_back({KeyOf(absl::StrCat(age)), {{kT - age, {}}, "", {}, 0}});
      }
      EXPECT_TRUE(storage_.Track("c", std::move(reports)).ok());
    }
    ContainerSettings settings = Settings(default_ttl);
    settings.brake = brake;
    const auto updated = storage_.Update("c", settings, absl::Seconds(60));
    EXPECT_TRUE(updated.ok()) << updated.status();
    return *updated;
  }
  ContainerPtr SetTtl(std::optional<int64_t> default_ttl) {
    return Set(default_ttl, storage_.Find("c")->settings.brake);
  }

  absl::StatusOr<ContainerPtr> Confirm(const std::string& etag = "", int64_t now = kT) {
    return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
      storage_->containers().ConfirmPolicy("c", etag, absl::FromUnixSeconds(now), std::move(done));
    });
  }

  // How many items are due at `now`.
  size_t DueAt(int64_t now) { return storage_.DueIds("c", now).size(); }

  WakeSignal signal_;
  StorageForTest storage_{[this] {
    StorageOptions options;
    options.due_signal = &signal_;
    return options;
  }()};
};

TEST_F(BrakeTest, HoldsWhatOneChangeMakesDueUntilItLetsGoByItself) {
  const ContainerPtr changed = SetTtl(50);
  ASSERT_THAT(changed->replaced_policies, SizeIs(1));
  EXPECT_EQ(changed->replaced_policies[0].braked_items, 51);
  EXPECT_EQ(changed->replaced_policies[0].until, kTestNow + absl::Hours(1));
  EXPECT_EQ(DueAt(kT + 3599), 0u);
  storage_.Reopen();
  EXPECT_EQ(DueAt(kT + 3599), 0u);
  EXPECT_EQ(DueAt(kT + 3600), 100u);
}

TEST_F(BrakeTest, IsNotPulledByAChangeWithinItsLimit) {
  const ContainerPtr changed = SetTtl(91);  // 10 items
  ASSERT_THAT(changed->replaced_policies, SizeIs(1));
  EXPECT_EQ(changed->replaced_policies[0].braked_items, std::nullopt);
  EXPECT_EQ(changed->replaced_policies[0].until, kTestNow + absl::Seconds(60));
}

TEST_F(BrakeTest, AShareOfTheTrackedItemsIsALimitToo) {
  const PolicyBrake brake{std::nullopt, 20.0, 60};
  Set(std::nullopt, brake);
  EXPECT_EQ(SetTtl(81)->replaced_policies[0].braked_items, std::nullopt);  // 20 of 100
  EXPECT_THAT(SetTtl(std::nullopt)->replaced_policies, IsEmpty());
  EXPECT_EQ(SetTtl(80)->replaced_policies[0].braked_items, 21);
}

TEST_F(BrakeTest, GoesByTheNewSettings) {
  Set(std::nullopt, std::nullopt);
  const PolicyBrake brake{10, std::nullopt, 60};
  EXPECT_EQ(Set(50, brake)->replaced_policies[0].braked_items, 51);
  SetTtl(std::nullopt);
  EXPECT_EQ(Set(50, std::nullopt)->replaced_policies[0].braked_items, std::nullopt);
}

TEST_F(BrakeTest, AGraceThatIsLongerThanItsReleaseCounts) {
  const PolicyBrake brake{10, std::nullopt, 60};
  ContainerSettings settings = Settings(50);
  settings.brake = brake;
  const auto changed = storage_.Update("c", settings, absl::Hours(2));
  EXPECT_EQ((*changed)->replaced_policies[0].until, kTestNow + absl::Hours(2));
}

TEST_F(BrakeTest, ALooseningAndAChangeOfOtherSettingsNeverPullIt) {
  Set(50, std::nullopt);
  EXPECT_EQ(Set(50, PolicyBrake{0, std::nullopt, 60})->replaced_policies.size(), 1u);  // grace
  EXPECT_THAT(SetTtl(70)->replaced_policies,
              testing::Each(testing::Field(&ReplacedPolicy::braked_items, std::nullopt)));
  EXPECT_THAT(SetTtl(std::nullopt)->replaced_policies, IsEmpty());
}

TEST_F(BrakeTest, TakingTheMistakeBackLeavesNothingBehind) {
  ASSERT_THAT(SetTtl(1)->replaced_policies, SizeIs(1));
  EXPECT_THAT(SetTtl(std::nullopt)->replaced_policies, IsEmpty());
  EXPECT_EQ(Confirm().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(BrakeTest, AnEarlierOneStandsWhenALaterChangeIsWithinTheLimit) {
  SetTtl(50);
  const ContainerPtr changed = SetTtl(45);  // five more
  ASSERT_THAT(changed->replaced_policies, SizeIs(2));
  EXPECT_EQ(changed->replaced_policies[0].braked_items, 51);
  EXPECT_EQ(changed->replaced_policies[1].braked_items, std::nullopt);
  EXPECT_EQ(DueAt(kT + 3599), 0u);
}

TEST_F(BrakeTest, WhatWasDueUnderTheOldPolicyTooIsNotHeld) {
  Set(91, PolicyBrake{10, std::nullopt, 3600});
  SetTtl(20);
  EXPECT_EQ(DueAt(kT + 60), 70u);  // those that are 91 s old by then
}

TEST_F(BrakeTest, ConfirmingEndsItAtOnceAndLeavesTheGraceOfOtherChanges) {
  SetTtl(50);
  SetTtl(45);
  const std::string etag = ContainerEtag(*storage_.Find("c"));
  EXPECT_EQ(Confirm("other").status().code(), absl::StatusCode::kAborted);
  const auto confirmed = Confirm(etag);
  ASSERT_TRUE(confirmed.ok()) << confirmed.status();
  ASSERT_THAT((*confirmed)->replaced_policies, SizeIs(1));
  EXPECT_EQ((*confirmed)->replaced_policies[0].policy.default_ttl, 50);
  EXPECT_EQ(DueAt(kT), 51u);
  storage_.Reopen();
  EXPECT_EQ(DueAt(kT), 51u);
  EXPECT_EQ(Confirm().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(BrakeTest, ConfirmingWakesTheSweeper) {
  SetTtl(50);
  // Once this is answered, the commits before it have given their signals.
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                storage_->sidecar_state().SaveStoreId("s", std::move(done));
              }).ok());
  signal_.WaitFor(absl::ZeroDuration());
  ASSERT_TRUE(Confirm().ok());
  const auto start = std::chrono::steady_clock::now();
  signal_.WaitFor(absl::Seconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(BrakeTest, OneThatLetGoByItselfCannotBeConfirmed) {
  SetTtl(50);
  EXPECT_EQ(Confirm("", kT + 3600).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Confirm("", kT + 3599).ok());
}

TEST_F(BrakeTest, ConfirmingAContainerThatIsNotThereIsNotFound) {
  ASSERT_TRUE(storage_.Delete("c").ok());
  EXPECT_EQ(Confirm().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(BrakeTest, WhileItemsAreStillBeingCountedAllOfThemCountAsNewlyDue) {
  storage_.Reopen();
  EXPECT_EQ(SetTtl(91)->replaced_policies[0].braked_items, 100);
  SetTtl(std::nullopt);
  storage_.FinishHousekeeping();
  EXPECT_EQ(SetTtl(91)->replaced_policies[0].braked_items, std::nullopt);
}

TEST(ContainersTest, ListsInTheOrderOfIds) {
  StorageForTest storage;
  for (const char* id : {"b", "a", "c", "a/b"}) storage.Create(id, 60);
  const auto ids = [&](const std::string& after, size_t limit) {
    std::vector<std::string> ids;
    for (const ContainerPtr& c : storage->containers().List(after, limit)) ids.push_back(c->id);
    return ids;
  };
  EXPECT_THAT(ids("", 10), ElementsAre("a", "a/b", "b", "c"));
  EXPECT_THAT(ids("a", 2), ElementsAre("a/b", "b"));
  EXPECT_THAT(ids("c", 2), IsEmpty());
}

}  // namespace
}  // namespace ttl
