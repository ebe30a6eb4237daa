#include "service/storage/containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kT = 1'800'000'000;

ContainerSettings Settings(std::optional<int64_t> default_ttl,
                           IndexingMode mode = IndexingMode::kConsistent) {
  ContainerSettings settings;
  settings.policy.default_ttl = default_ttl;
  settings.indexing_mode = mode;
  return settings;
}

// Field report B12: three states must not be squeezed into one number.
TEST(ContainersTest, B12_EachStateOfDefaultTtlReadsBackAlsoAfterReopening) {
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
    return Await<absl::Status>(
        [&](auto done) { storage->containers().Delete("c", with, std::move(done)); });
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
      [&](absl::StatusOr<ContainerPtr> c) { promise.set_value(std::move(c)); });
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
