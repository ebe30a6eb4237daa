#include "client/examples/document_store/reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/testing/wait.h"
#include "tests/unit/examples/document_store_for_test.h"

namespace documentstore {
namespace {

using absl::StatusCode;
using Method = ttl::FakeItemService::Method;

const grpc::Status kDown(grpc::StatusCode::UNAVAILABLE, "down");

class ReporterTest : public testing::Test, public DocumentStoreForTest {
 protected:
  // Commits a write or delete that the process does not live to report.
  void WriteWithoutReport(const std::string& id) {
    sidecar.BeforeNext(Method::kTrack, [&] { sidecar.SetStatus(kDown); });
    EXPECT_EQ(Put(id, 60).status().code(), StatusCode::kUnavailable);
    sidecar.SetStatus(grpc::Status::OK);
  }
  void DeleteWithoutReport(const std::string& id) {
    sidecar.BeforeNext(Method::kUntrack, [&] { sidecar.SetStatus(kDown); });
    EXPECT_EQ(Delete(id).code(), StatusCode::kUnavailable);
    sidecar.SetStatus(grpc::Status::OK);
  }
};

TEST_F(ReporterTest, WriteThatCannotBeReportedIsUnavailableAndKeepsItsMark) {
  WriteWithoutReport("a");
  EXPECT_FALSE(Tracked("a"));
  EXPECT_EQ(store().table->CountUnreported(), 1);
  EXPECT_TRUE(Get("a").ok()) << "the check carries the version";
}

TEST_F(ReporterTest, WriteIsReportedAfterARestart) {
  WriteWithoutReport("a");
  Restart();
  EXPECT_EQ(store().table->CountUnreported(), 1);
  ASSERT_TRUE(store().reporter.ReportOutbox().ok());
  ASSERT_TRUE(Tracked("a"));
  EXPECT_EQ(Tracked("a")->ttl(), 60);
  EXPECT_EQ(store().table->CountUnreported(), 0);
}

TEST_F(ReporterTest, DeleteIsReportedAfterARestart) {
  ASSERT_TRUE(Put("a", 60).ok());
  DeleteWithoutReport("a");
  EXPECT_TRUE(Tracked("a"));
  Restart();
  ASSERT_TRUE(store().reporter.ReportOutbox().ok());
  EXPECT_FALSE(Tracked("a"));
}

TEST_F(ReporterTest, WhatLiesUnderTheKeyNowIsReported) {
  WriteWithoutReport("rewritten");
  const auto rewritten = Put("rewritten", 30);
  WriteWithoutReport("deleted");
  DeleteWithoutReport("deleted");
  ASSERT_TRUE(Put("recreated", 60).ok());
  DeleteWithoutReport("recreated");
  ASSERT_TRUE(Put("recreated", 10).ok());
  Restart();
  ASSERT_TRUE(store().reporter.ReportOutbox().ok());
  EXPECT_EQ(Tracked("rewritten")->etag(), rewritten->etag());
  EXPECT_FALSE(Tracked("deleted"));
  EXPECT_EQ(Tracked("recreated")->ttl(), 10);
}

TEST_F(ReporterTest, OutboxIsReportedInTheOrderOfSequence) {
  for (const char* id : {"c", "a", "d", "b"}) WriteWithoutReport(id);
  Restart();
  ASSERT_TRUE(store().reporter.ReportOutbox().ok());
  const auto reported = sidecar.reported();
  EXPECT_EQ(reported.size(), 4);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
}

TEST_F(ReporterTest, LostAnswerIsReportedAgainWithoutHarm) {
  sidecar.LoseNextAnswer(Method::kTrack, kDown);
  EXPECT_EQ(Put("a", 60).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(store().table->CountUnreported(), 1);
  ASSERT_TRUE(store().reporter.ReportOutbox().ok());
  EXPECT_EQ(store().table->CountUnreported(), 0);
  EXPECT_EQ(Tracked("a")->etag(), Get("a")->etag());
}

TEST_F(ReporterTest, ContainerThatIsGoneKeepsItsMarksAndBlocksNoOther) {
  ASSERT_TRUE(Put("a", 60).ok());
  sidecar.BeforeNext(Method::kTrack, [&] { sidecar.RemoveContainer(kContainer); });
  EXPECT_EQ(Put("b", 60).status().code(), StatusCode::kFailedPrecondition);
  sidecar.SetContainer("zebra", -1);
  sidecar.BeforeNext(Method::kTrack, [&] { sidecar.SetStatus(kDown); });
  v1::PutDocumentsRequest request;
  request.set_container("zebra");
  *request.add_documents() = MakeDocument("z", 60);
  EXPECT_FALSE(engine().Put(request).ok());
  sidecar.SetStatus(grpc::Status::OK);

  EXPECT_EQ(store().reporter.ReportOutbox().code(), StatusCode::kNotFound);
  EXPECT_TRUE(sidecar.Find("zebra", kPartition, "z"));
  EXPECT_EQ(store().table->CountUnreported(), 1);

  sidecar.SetContainer(kContainer, -1);
  ASSERT_TRUE(store().reporter.ReportOutbox().ok());
  EXPECT_TRUE(Tracked("b"));
}

TEST_F(ReporterTest, ItemThatTheSidecarRefusesBlocksNoOther) {
  WriteWithoutReport("good");
  clocks.Advance(3 * 24 * 3600);
  WriteWithoutReport("from the future");
  WriteWithoutReport("also from the future");
  clocks.Advance(-3 * 24 * 3600);
  WriteWithoutReport("good too");
  EXPECT_EQ(store().reporter.ReportOutbox().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Tracked("good"));
  EXPECT_TRUE(Tracked("good too"));
  EXPECT_EQ(store().table->CountUnreported(), 2);
}

TEST_F(ReporterTest, WriteWhoseReportIsOvertakenByItsDeleteIsNotTracked) {
  sidecar.BeforeNext(Method::kTrack, [&] { ASSERT_TRUE(Delete("a").ok()); });
  ASSERT_TRUE(Put("a", -1).ok());
  EXPECT_FALSE(Tracked("a"));
  EXPECT_EQ(store().table->CountUnreported(), 0);
}

TEST_F(ReporterTest, SequencesAndStoreIdSurviveRestarts) {
  const std::string store_id = store().table->store_id();
  EXPECT_EQ(store_id.size(), 32);
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Put("a").ok());
    EXPECT_GT(Tracked("a")->sequence(), last);
    last = Tracked("a")->sequence();
    ASSERT_TRUE(Delete("a").ok());
    Restart();
    EXPECT_EQ(store().table->store_id(), store_id);
  }
}

TEST_F(ReporterTest, CountsAreRebuiltAtStart) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put(std::to_string(i)).ok());
  ASSERT_TRUE(Delete("0").ok());
  Restart();
  EXPECT_EQ(CountStored(), 4);
}

TEST(ReporterThreadTest, ReportsTheOutboxAsSoonAsTheSidecarIsBack) {
  DocumentStoreForTest test(/*store_behind=*/0, absl::Milliseconds(5));
  ASSERT_TRUE(test.Put("known").ok());
  test.sidecar.SetStatus(kDown);
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_EQ(test.Put(id, 60).status().code(), StatusCode::kUnavailable);
  }
  EXPECT_EQ(test.store().table->CountUnreported(), 3);
  test.sidecar.SetStatus(grpc::Status::OK);
  EXPECT_TRUE(ttl::WaitUntil([&] { return test.store().table->CountUnreported() == 0; }));
  EXPECT_TRUE(test.Tracked("a"));
  EXPECT_TRUE(test.Tracked("c"));
}

}  // namespace
}  // namespace documentstore
