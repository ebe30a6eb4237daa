#include "service/rpc/checks/held_items.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

TEST(HeldItemsTest, OnlyExpiredAnswersAreJudgedAgain) {
  CheckAnswers answers;
  answers.Begin(kNow, 4);
  answers.Add(v1::VISIBILITY_EXPIRED, 7);
  answers.Add(v1::VISIBILITY_VISIBLE, 8);
  answers.Add(v1::VISIBILITY_UNTRACKED, std::nullopt);
  answers.Add(v1::VISIBILITY_EXPIRED, 9);
  const std::vector<Check> checks = {
      {"p", "a", {}}, {"p", "b", {}}, {"p", "c", {}}, {"q", "d", {}}};
  std::vector<ItemKey> asked;
  JudgeExpiredAgain(
      checks,
      [&asked](const ItemKey& key) {
        asked.push_back(key);
        return key.id == "a" ? v1::VISIBILITY_VISIBLE : v1::VISIBILITY_UNTRACKED;
      },
      answers);
  EXPECT_THAT(asked, ElementsAre(ItemKey{"p", "a"}, ItemKey{"q", "d"}));
  EXPECT_EQ(answers.VisibilityAt(0), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(answers.VisibilityAt(3), v1::VISIBILITY_UNTRACKED);
  const VerdictCounts verdicts = answers.Verdicts();
  EXPECT_EQ(verdicts.visible, 2);
  EXPECT_EQ(verdicts.expired, 0);
  EXPECT_EQ(verdicts.untracked, 2);
}

}  // namespace
}  // namespace ttl
