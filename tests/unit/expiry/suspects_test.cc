#include "service/expiry/sweep/suspects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

DueItem Named(const std::string& id) {
  DueItem item;
  item.key = {"p", id};
  return item;
}

DueItem TriedBefore(const std::string& id) {
  DueItem item = Named(id);
  item.item.retry_time = 5;
  return item;
}

std::vector<DueItem> Many(int count) {
  std::vector<DueItem> items;
  for (int i = 0; i < count; ++i) items.push_back(Named(absl::StrCat(i)));
  return items;
}

std::vector<std::string> NamesOf(const std::vector<DueItem>& items) {
  std::vector<std::string> ids;
  for (const DueItem& item : items) ids.push_back(item.key.id);
  return ids;
}

TEST(SuspectsTest, WithoutSuspectsAllGo) {
  Suspects suspects(10);
  EXPECT_THAT(NamesOf(suspects.Choose(Many(3))), ElementsAre("0", "1", "2"));
  EXPECT_THAT(suspects.Choose({}), IsEmpty());
}

TEST(SuspectsTest, ThoseTriedBeforeAndTheOthersTakeTurns) {
  Suspects suspects(10);
  const std::vector<DueItem> due = {TriedBefore("t1"), Named("a"), TriedBefore("t2"), Named("b")};
  EXPECT_THAT(NamesOf(suspects.Choose(due)), ElementsAre("a", "b"));
  EXPECT_THAT(NamesOf(suspects.Choose(due)), ElementsAre("t1", "t2"));
  EXPECT_THAT(NamesOf(suspects.Choose(due)), ElementsAre("a", "b"));
  EXPECT_THAT(NamesOf(suspects.Choose({due[0]})), ElementsAre("t1"));
  EXPECT_THAT(NamesOf(suspects.Choose({due[2]})), ElementsAre("t2")) << "nobody else wants a turn";
}

TEST(SuspectsTest, AFailedBatchIsSplitAndItsHalvesTakeTurns) {
  Suspects suspects(10);
  const std::vector<DueItem> due = Many(5);
  ASSERT_TRUE(suspects.Suspect(due));
  EXPECT_THAT(NamesOf(suspects.Choose(due)), ElementsAre("0", "1"));
  ASSERT_TRUE(suspects.Suspect({due[0], due[1]}));
  EXPECT_THAT(NamesOf(suspects.Choose(due)), ElementsAre("2", "3", "4"));
  suspects.Clear({due[2], due[3], due[4]});
  EXPECT_THAT(NamesOf(suspects.Choose({due[0], due[1]})), ElementsAre("0"));
  suspects.Clear({due[0]});
  EXPECT_THAT(NamesOf(suspects.Choose({due[1]})), ElementsAre("1"));
}

TEST(SuspectsTest, OneOfManyIsFoundWhileTheOthersGo) {
  for (const int bad : {0, 1, 200, 401}) {
    Suspects suspects(500);
    std::vector<DueItem> due = Many(402);
    int failures = 0;
    for (;;) {
      const std::vector<DueItem> batch = suspects.Choose(due);
      const bool fails = std::any_of(batch.begin(), batch.end(), [bad](const DueItem& item) {
        return item.key.id == std::to_string(bad);
      });
      if (fails && batch.size() == 1) break;
      if (fails) {
        ++failures;
        ASSERT_TRUE(suspects.Suspect(batch));
        continue;
      }
      suspects.Clear(batch);
      std::erase_if(due, [&](const DueItem& item) {
        return std::any_of(batch.begin(), batch.end(),
                           [&](const DueItem& gone) { return gone.key == item.key; });
      });
    }
    EXPECT_LE(failures, 10);
  }
}

TEST(SuspectsTest, SoManyAreNoSuspects) {
  Suspects suspects(4);
  const std::vector<DueItem> due = Many(8);
  EXPECT_TRUE(suspects.Suspect({due[0], due[1], due[2]}));
  EXPECT_FALSE(suspects.Suspect({due[3], due[4]}));
  EXPECT_TRUE(suspects.Suspect({due[0], due[3]})) << "one of them is known";
  EXPECT_EQ(suspects.size(), 4u);
}

TEST(SuspectsTest, WhatIsNoLongerDueIsForgotten) {
  Suspects suspects(4);
  const std::vector<DueItem> due = Many(4);
  ASSERT_TRUE(suspects.Suspect({due[0], due[1]}));
  EXPECT_THAT(NamesOf(suspects.Choose({due[2], due[3]})), ElementsAre("2", "3"));
  EXPECT_EQ(suspects.size(), 0u);
}

}  // namespace
}  // namespace ttl
