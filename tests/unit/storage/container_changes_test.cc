#include "service/storage/commit/container_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "absl/strings/str_cat.h"
#include "rapidcheck/gtest.h"
#include "service/base/wake_signal.h"
#include "service/storage/commit/container_log.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kAllChanges = ContainerLog::kMaxEntries;

std::vector<std::string> Ids(const std::vector<ContainerPtr>& containers) {
  std::vector<std::string> ids;
  for (const ContainerPtr& container : containers) ids.push_back(container->id);
  return ids;
}

class ContainerChangesTest : public testing::Test {
 protected:
  uint64_t Revision() { return storage_->containers().Revision(); }
  std::optional<ContainerChanges> After(uint64_t revision) {
    return storage_->containers().ChangesAfter(revision, kAllChanges);
  }

  StorageForTest storage_;
};

TEST_F(ContainerChangesTest, CreatedAndUpdatedContainersAreToldAsTheyAreNow) {
  const uint64_t before = Revision();
  storage_.Create("a", 60);
  storage_.Create("b", 60);
  storage_.SetDefaultTtl("a", 120);
  const auto changes = After(before);
  ASSERT_TRUE(changes.has_value());
  EXPECT_EQ(changes->revision, Revision());
  EXPECT_THAT(Ids(changes->containers), ElementsAre("a", "b"));
  EXPECT_EQ(changes->containers[0]->settings.policy.default_ttl, 120);
  EXPECT_THAT(changes->deleted, IsEmpty());
  EXPECT_THAT(After(changes->revision)->containers, IsEmpty());
}

TEST_F(ContainerChangesTest, ADeletedContainerIsToldById) {
  storage_.Create("a", 60);
  const uint64_t before = Revision();
  ASSERT_TRUE(storage_.Delete("a").ok());
  EXPECT_THAT(After(before)->deleted, ElementsAre("a"));
  EXPECT_THAT(After(before)->containers, IsEmpty());
}

TEST_F(ContainerChangesTest, ADeletedAndRecreatedContainerIsBoth) {
  storage_.Create("a", 60);
  const uint64_t before = Revision();
  ASSERT_TRUE(storage_.Delete("a").ok());
  storage_.Create("a", 120);
  EXPECT_THAT(After(before)->deleted, ElementsAre("a"));
  ASSERT_THAT(Ids(After(before)->containers), ElementsAre("a"));
  EXPECT_EQ(After(before)->containers[0]->settings.policy.default_ttl, 120);
}

TEST_F(ContainerChangesTest, ACreationOfWhatIsDeletedByNowIsADeletion) {
  const uint64_t before = Revision();
  storage_.Create("a", 60);
  ASSERT_TRUE(storage_.Delete("a").ok());
  const auto first = storage_->containers().ChangesAfter(before, 1);
  EXPECT_THAT(first->containers, IsEmpty());
  EXPECT_THAT(first->deleted, ElementsAre("a"));
}

TEST_F(ContainerChangesTest, PausesAreNone) {
  storage_.Create("a", 60);
  const uint64_t before = Revision();
  storage_.Pause("a", true);
  storage_.Pause("a", false);
  EXPECT_EQ(Revision(), before);
}

TEST_F(ContainerChangesTest, TheBuildOfAnIndexCountsWhenItStartsAndWhenItEnds) {
  storage_.Create("a", std::nullopt, IndexingMode::kNone);
  for (int i = 0; i < 5000; ++i) storage_.TrackOne("a", absl::StrCat(i), 1000);
  const uint64_t before = Revision();
  ASSERT_TRUE(storage_.Update("a", ContainerSettings()).ok());
  ASSERT_TRUE(storage_.Find("a")->index_build.has_value());
  EXPECT_EQ(Revision(), before + 1);
  storage_.FinishHousekeeping();
  ASSERT_FALSE(storage_.Find("a")->index_build.has_value());
  EXPECT_EQ(Revision(), before + 2);
}

TEST_F(ContainerChangesTest, AfterMoreChangesThanAreRememberedThereIsNoAnswer) {
  storage_.Create("a", 60);
  const uint64_t before = Revision();
  for (size_t i = 0; i <= ContainerLog::kMaxEntries; ++i) {
    storage_.SetDefaultTtl("a", static_cast<int64_t>(60 + i));
  }
  EXPECT_FALSE(After(before).has_value());
  EXPECT_THAT(Ids(After(before + 1)->containers), ElementsAre("a"));
}

TEST_F(ContainerChangesTest, AfterTheDatabaseWasReopenedNobodyCanGoOnFromBefore) {
  storage_.Create("a", 60);
  const uint64_t before = Revision();
  storage_.env().FailWrites(true);
  EXPECT_FALSE(storage_.Update("a", ContainerSettings()).ok());
  storage_.env().FailWrites(false);
  storage_.FinishHousekeeping();
  ASSERT_TRUE(storage_->WriteHealth().ok());
  EXPECT_FALSE(After(before).has_value());
  EXPECT_THAT(After(Revision())->containers, IsEmpty());
}

TEST_F(ContainerChangesTest, ListenersAreWokenByChangesUntilTheyAreRemoved) {
  WakeSignal signal;
  storage_->containers().AddListener(signal);
  storage_.Create("a", 60);
  const auto start = std::chrono::steady_clock::now();
  signal.WaitFor(absl::Seconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  storage_->containers().RemoveListener(signal);
}

// Somebody who starts with a list and applies all changes since, in windows of any
// size, knows in the end what there is.
RC_GTEST_PROP(ContainerChangesProperty, FollowingTheChangesLeadsToWhatThereIs, ()) {
  StorageForTest storage;
  std::map<std::string, int64_t> known;
  uint64_t revision = storage->containers().Revision();
  const auto follow = [&](size_t limit) {
    const auto changes = storage->containers().ChangesAfter(revision, limit);
    RC_ASSERT(changes.has_value());
    for (const std::string& id : changes->deleted) known.erase(id);
    for (const ContainerPtr& container : changes->containers) {
      known[container->id] = *container->settings.policy.default_ttl;
    }
    revision = changes->revision;
  };
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange(0, 4)));
  int64_t ttl = 0;
  for (const auto& [name, action] : steps) {
    const std::string id = absl::StrCat("c", name);
    const bool lives = storage.Find(id) != nullptr;
    if (action == 0) {
      follow(*rc::gen::inRange<size_t>(1, 3));
    } else if (!lives) {
      storage.Create(id, ++ttl);
    } else if (action == 1) {
      RC_ASSERT(storage.Delete(id).ok());
    } else {
      storage.SetDefaultTtl(id, ++ttl);
    }
  }
  while (revision < storage->containers().Revision()) follow(2);
  std::map<std::string, int64_t> present;
  for (const ContainerPtr& container : storage->containers().All()) {
    present[container->id] = *container->settings.policy.default_ttl;
  }
  RC_ASSERT(known == present);
}

}  // namespace
}  // namespace ttl
