// What moves the end of a document without a new body: reads that touch it, and its ttl.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/examples/document_store_for_test.h"

namespace documentstore {
namespace {

using absl::StatusCode;
using testing::HasSubstr;
using Method = ttl::FakeItemService::Method;

class DocumentTouchTest : public testing::Test, public DocumentStoreForTest {
 protected:
  DocumentTouchTest() { sidecar.AllowTouch(kContainer); }
};

TEST_F(DocumentTouchTest, AReadThatTouchesStartsTheCountdownWithoutAWrite) {
  const auto written = Put("a", 60);
  clocks.Advance(59);
  const auto read = GetAndTouch("a");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->touched());
  EXPECT_EQ(read->document().body(), "body");
  EXPECT_EQ(read->document().etag(), written->etag());
  EXPECT_EQ(read->document().ts(), written->ts());
  clocks.Advance(59);
  EXPECT_TRUE(Get("a").ok());
  clocks.Advance(1);
  EXPECT_EQ(Get("a").status().code(), StatusCode::kNotFound);
}

TEST_F(DocumentTouchTest, AReadDoesNotTouchUnlessItSaysSo) {
  ASSERT_TRUE(Put("a", 60).ok());
  clocks.Advance(59);
  EXPECT_TRUE(Get("a").ok());
  EXPECT_EQ(sidecar.calls(Method::kTouch), 0);
  clocks.Advance(1);
  EXPECT_EQ(Get("a").status().code(), StatusCode::kNotFound);
}

TEST_F(DocumentTouchTest, AnExpiredDocumentIsNotTouched) {
  ASSERT_TRUE(Put("a", 60).ok());
  clocks.Advance(60);
  EXPECT_EQ(GetAndTouch("a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Get("a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Sweep().items_size(), 1);
}

TEST_F(DocumentTouchTest, ATouchedDocumentIsDeletedAtItsNewEndOnly) {
  ASSERT_TRUE(Put("a", 60).ok());
  clocks.Advance(59);
  ASSERT_TRUE(GetAndTouch("a").ok());
  clocks.Advance(59);
  EXPECT_EQ(Sweep().items_size(), 0);
  clocks.Advance(1);
  ASSERT_EQ(Sweep().items_size(), 1);
  EXPECT_EQ(Sweep().items(0).expire_time(), clocks.now());
}

TEST_F(DocumentTouchTest, AReadOfAVersionThatIsNotReportedYetShowsItUntouched) {
  sidecar.BeforeNext(Method::kTrack, [&] {
    const auto read = GetAndTouch("a");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_FALSE(read->touched());
    EXPECT_EQ(read->document().body(), "body");
  });
  ASSERT_TRUE(Put("a", 60).ok());
  EXPECT_EQ(sidecar.calls(Method::kTouch), 1);
  EXPECT_TRUE(GetAndTouch("a")->touched());
}

TEST_F(DocumentTouchTest, AContainerThatDoesNotAllowItRefuses) {
  sidecar.RemoveContainer(kContainer);
  sidecar.SetContainer(kContainer, -1);
  ASSERT_TRUE(Put("a", 60).ok());
  const auto refused = GetAndTouch("a").status();
  EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("allow_touch"));
  EXPECT_TRUE(Get("a").ok());
}

TEST_F(DocumentTouchTest, WhatCannotBeTouchedNowIsShownUntouched) {
  ASSERT_TRUE(Put("a", 60).ok());
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::DEADLINE_EXCEEDED,
                          grpc::StatusCode::RESOURCE_EXHAUSTED}) {
    sidecar.LoseNextAnswer(Method::kTouch, grpc::Status(code, "not now"));
    const auto read = GetAndTouch("a");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_FALSE(read->touched()) << code;
    EXPECT_TRUE(GetAndTouch("a")->touched());
  }
}

TEST_F(DocumentTouchTest, WhileTheSidecarIsAwayNothingIsShown) {
  ASSERT_TRUE(Put("a", 60).ok());
  sidecar.SetStatus(grpc::Status(grpc::StatusCode::UNAVAILABLE, "restarting"));
  EXPECT_EQ(GetAndTouch("a").status().code(), StatusCode::kUnavailable);
}

TEST_F(DocumentTouchTest, ATtlCountsFromWhenItIsSetAndKeepsTheRest) {
  const auto before = Put("a", 60);
  clocks.Advance(59);
  const auto set = SetTtl("a", 10, v1::TTL_CONDITION_UNSPECIFIED);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ts(), clocks.now());
  EXPECT_EQ(set->ttl(), 10);
  EXPECT_NE(set->etag(), before->etag());
  EXPECT_EQ(Get("a")->body(), "body");
  EXPECT_EQ(Tracked("a")->ttl(), 10);
  clocks.Advance(10);
  EXPECT_EQ(Get("a").status().code(), StatusCode::kNotFound);
  const auto expired = SetTtl("a", 10, v1::TTL_CONDITION_XX);
  EXPECT_EQ(expired.status().code(), StatusCode::kNotFound);
}

TEST_F(DocumentTouchTest, ATtlIsSetIfItsConditionHolds) {
  struct Case {
    const char* id;
    int64_t ttl;
    v1::TtlCondition condition;
    StatusCode code;
  };
  const Case cases[] = {
      {"never", 60, v1::TTL_CONDITION_XX, StatusCode::kAborted},
      {"never", 60, v1::TTL_CONDITION_GT, StatusCode::kAborted},
      {"never", 60, v1::TTL_CONDITION_NX, StatusCode::kOk},
      {"ends", 60, v1::TTL_CONDITION_NX, StatusCode::kAborted},
      {"ends", 50, v1::TTL_CONDITION_GT, StatusCode::kAborted},  // as long as it has left
      {"ends", 51, v1::TTL_CONDITION_GT, StatusCode::kOk},
      {"ends", 51, v1::TTL_CONDITION_LT, StatusCode::kAborted},
      {"ends", 50, v1::TTL_CONDITION_LT, StatusCode::kOk},
      {"ends", -1, v1::TTL_CONDITION_LT, StatusCode::kAborted},
      {"ends", -1, v1::TTL_CONDITION_XX, StatusCode::kOk},
      {"ends", 60, v1::TTL_CONDITION_XX, StatusCode::kAborted},
  };
  ASSERT_TRUE(Put("never").ok());
  ASSERT_TRUE(Put("ends", 60).ok());
  clocks.Advance(10);
  for (const Case& c : cases) {
    const auto before = Get(c.id);
    const auto set = SetTtl(c.id, c.ttl, c.condition);
    EXPECT_EQ(set.status().code(), c.code)
        << c.id << " " << c.ttl << " " << v1::TtlCondition_Name(c.condition) << set.status();
    EXPECT_EQ(Get(c.id)->etag() == before->etag(), !set.ok());
  }
}

TEST_F(DocumentTouchTest, ATouchMovesTheEndThatAConditionCompares) {
  ASSERT_TRUE(Put("a", 60).ok());
  clocks.Advance(50);
  ASSERT_TRUE(GetAndTouch("a").ok());
  EXPECT_EQ(SetTtl("a", 20, v1::TTL_CONDITION_GT).status().code(), StatusCode::kAborted);
  EXPECT_TRUE(SetTtl("a", 61, v1::TTL_CONDITION_GT).ok());
}

TEST_F(DocumentTouchTest, AConditionIsDecidedAgainIfTheDocumentChangesMeanwhile) {
  ASSERT_TRUE(Put("a", 60).ok());
  sidecar.BeforeNext(Method::kCheck, [&] { ASSERT_TRUE(Put("a", 100).ok()); });
  EXPECT_EQ(SetTtl("a", 80, v1::TTL_CONDITION_GT).status().code(), StatusCode::kAborted);
  EXPECT_EQ(Get("a")->ttl(), 100);
}

TEST_F(DocumentTouchTest, ATtlThatThereIsNotIsRefused) {
  ASSERT_TRUE(Put("a", 60).ok());
  for (const int64_t ttl : {int64_t{0}, int64_t{-2}, int64_t{1} << 31}) {
    const auto refused = SetTtl("a", ttl, v1::TTL_CONDITION_UNSPECIFIED).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr(std::to_string(ttl)));
  }
  EXPECT_EQ(SetTtl("missing", 5, v1::TTL_CONDITION_NX).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace documentstore
