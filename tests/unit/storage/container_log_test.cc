#include "service/storage/commit/container_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "rapidcheck/gtest.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

constexpr size_t kAll = ContainerLog::kMaxEntries;

TEST(ContainerLogTest, TellsWhatCameAfterARevision) {
  ContainerLog log;
  log.Add("a", false);
  const uint64_t seen = log.revision();
  log.Add("b", false);
  log.Add("c", true);
  const auto window = log.After(seen, kAll);
  ASSERT_TRUE(window.has_value());
  EXPECT_EQ(window->revision, log.revision());
  EXPECT_THAT(window->entries, ElementsAre(FieldsAre("b", false), FieldsAre("c", true)));
}

TEST(ContainerLogTest, NothingNewIsAnEmptyWindow) {
  ContainerLog log;
  EXPECT_THAT(log.After(0, kAll)->entries, IsEmpty());
  log.Add("a", false);
  EXPECT_THAT(log.After(log.revision(), kAll)->entries, IsEmpty());
  EXPECT_EQ(log.After(log.revision(), kAll)->revision, log.revision());
}

TEST(ContainerLogTest, TellsEachContainerOnceAndThatItWasDeletedInBetween) {
  ContainerLog log;
  log.Add("a", false);
  log.Add("b", false);
  log.Add("a", true);
  log.Add("a", false);
  log.Add("b", false);
  EXPECT_THAT(log.After(0, kAll)->entries,
              ElementsAre(FieldsAre("a", true), FieldsAre("b", false)));
  EXPECT_THAT(log.After(3, kAll)->entries,
              ElementsAre(FieldsAre("a", false), FieldsAre("b", false)));
}

TEST(ContainerLogTest, ALimitLeavesTheRestForLater) {
  ContainerLog log;
  for (const char* id : {"a", "b", "c"}) log.Add(id, false);
  const auto first = log.After(0, 2);
  EXPECT_EQ(first->revision, 2u);
  EXPECT_THAT(first->entries, ElementsAre(FieldsAre("a", false), FieldsAre("b", false)));
  EXPECT_THAT(log.After(first->revision, 2)->entries, ElementsAre(FieldsAre("c", false)));
}

TEST(ContainerLogTest, WhatIsTooLongAgoIsForgotten) {
  ContainerLog log;
  for (size_t i = 0; i < ContainerLog::kMaxEntries; ++i) log.Add(absl::StrCat(i), false);
  EXPECT_EQ(log.After(0, kAll)->entries.size(), ContainerLog::kMaxEntries);
  log.Add("one more", false);
  EXPECT_FALSE(log.After(0, kAll).has_value());
  EXPECT_EQ(log.After(1, kAll)->entries.front().id, "1");
}

TEST(ContainerLogTest, AfterForgettingNobodyCanGoOnFromBefore) {
  ContainerLog log;
  log.Add("a", false);
  const uint64_t before = log.revision();
  log.Forget();
  EXPECT_FALSE(log.After(before, kAll).has_value());
  EXPECT_THAT(log.After(log.revision(), kAll)->entries, IsEmpty());
}

TEST(ContainerLogTest, ARevisionThatIsYetToComeIsUnknown) {
  const ContainerLog log;
  EXPECT_FALSE(log.After(1, kAll).has_value());
}

// Windows of any size, one after the other, name what changed and nothing else, and leave
// out no deletion.
RC_GTEST_PROP(ContainerLogProperty, WindowsLeaveNothingOut, ()) {
  const auto changes = *rc::gen::container<std::vector<std::pair<int, bool>>>(
      rc::gen::pair(rc::gen::inRange(0, 5), rc::gen::arbitrary<bool>()));
  ContainerLog log;
  std::set<std::string> changed;
  std::set<std::string> deleted;
  for (const auto& [id, is_deletion] : changes) {
    log.Add(absl::StrCat(id), is_deletion);
    changed.insert(absl::StrCat(id));
    if (is_deletion) deleted.insert(absl::StrCat(id));
  }
  uint64_t revision = 0;
  while (revision < log.revision()) {
    const auto window = log.After(revision, *rc::gen::inRange<size_t>(1, 4));
    RC_ASSERT(window->revision > revision);
    revision = window->revision;
    for (const ContainerLog::Entry& entry : window->entries) {
      RC_ASSERT(changed.contains(entry.id));
      if (entry.deleted) deleted.erase(entry.id);
    }
  }
  RC_ASSERT(revision == changes.size());
  RC_ASSERT(deleted.empty());
}

}  // namespace
}  // namespace ttl
