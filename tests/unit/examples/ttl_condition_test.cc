#include "client/examples/document_store/ttl_condition.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace documentstore {
namespace {

using absl::StatusCode;

storage::v1::DocumentRecord Record(int64_t ttl, std::optional<int64_t> expire_at = std::nullopt) {
  storage::v1::DocumentRecord record;
  record.set_ttl(ttl);
  if (expire_at) record.set_expire_at(*expire_at);
  return record;
}

TEST(TtlConditionTest, ADocumentEndsByItsTtlOrItsExpireAtWhicheverIsEarlier) {
  EXPECT_EQ(EndOf(Record(60), 1000), 1060);
  EXPECT_EQ(EndOf(Record(60, 1059), 1000), 1059);
  EXPECT_EQ(EndOf(Record(60, 1061), 1000), 1060);
  EXPECT_EQ(EndOf(Record(-1, 1061), 1000), 1061);
  EXPECT_EQ(EndOf(Record(-1), 1000), kNever);
}

TEST(TtlConditionTest, ThePresentAndTheNextEndDecide) {
  struct Case {
    int64_t present;
    int64_t next;
    bool nx, xx, gt, lt;
  };
  const Case cases[] = {
      {kNever, 10, true, false, false, true}, {kNever, kNever, true, false, false, false},
      {10, kNever, false, true, true, false}, {10, 11, false, true, true, false},
      {10, 10, false, true, false, false},    {10, 9, false, true, false, true},
  };
  for (const Case& c : cases) {
    const auto allows = [&](v1::TtlCondition condition) {
      const absl::Status status = RequireCondition(condition, c.present, c.next);
      EXPECT_TRUE(status.ok() || absl::IsAborted(status)) << status;
      return status.ok();
    };
    SCOPED_TRACE(std::to_string(c.present) + " to " + std::to_string(c.next));
    EXPECT_TRUE(allows(v1::TTL_CONDITION_UNSPECIFIED));
    EXPECT_EQ(allows(v1::TTL_CONDITION_NX), c.nx);
    EXPECT_EQ(allows(v1::TTL_CONDITION_XX), c.xx);
    EXPECT_EQ(allows(v1::TTL_CONDITION_GT), c.gt);
    EXPECT_EQ(allows(v1::TTL_CONDITION_LT), c.lt);
  }
}

TEST(TtlConditionTest, ARefusalNamesBothEnds) {
  EXPECT_EQ(RequireCondition(v1::TTL_CONDITION_GT, kNever, 1060).message(),
            "condition is TTL_CONDITION_GT but the document ends never and would end at 1060");
}

TEST(TtlConditionTest, AnUnknownEndMattersToAConditionOnly) {
  EXPECT_TRUE(RequireCondition(v1::TTL_CONDITION_UNSPECIFIED, std::nullopt, 10).ok());
  for (const auto condition :
       {v1::TTL_CONDITION_NX, v1::TTL_CONDITION_XX, v1::TTL_CONDITION_GT, v1::TTL_CONDITION_LT}) {
    EXPECT_EQ(RequireCondition(condition, std::nullopt, 10).code(), StatusCode::kUnavailable);
  }
}

TEST(TtlConditionTest, AConditionThatThereIsNotIsRefused) {
  const auto refused = RequireCondition(static_cast<v1::TtlCondition>(5), 10, 11);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace documentstore
