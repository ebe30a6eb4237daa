#include "client/examples/document_store/document_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/examples/document_store_for_test.h"

namespace documentstore {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Method = ttl::FakeItemService::Method;

class DocumentEngineTest : public testing::Test, public DocumentStoreForTest {};

TEST_F(DocumentEngineTest, WriteIsStampedReportedAndForgotten) {
  const auto written = Put("a", 60);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->ts(), clocks.now());
  EXPECT_EQ(written->body(), "");
  const auto tracked = Tracked("a");
  ASSERT_TRUE(tracked);
  EXPECT_EQ(tracked->ts(), written->ts());
  EXPECT_EQ(tracked->ttl(), 60);
  EXPECT_EQ(tracked->etag(), written->etag());
  EXPECT_EQ(tracked->size_bytes(), 4);
  EXPECT_TRUE(tracked->has_sequence());
  EXPECT_EQ(store().table->CountUnreported(), 0);
}

TEST_F(DocumentEngineTest, AbsentTtlIsReportedAsAbsent) {
  ASSERT_TRUE(Put("a").ok());
  EXPECT_FALSE(Tracked("a")->has_ttl());
  EXPECT_FALSE(Get("a")->has_ttl());
}

TEST_F(DocumentEngineTest, EveryWriteHasANewEtag) {
  const auto put = Put("a", 60);
  const auto replaced = Replace("a", 60);
  const auto touched = Touch("a");
  EXPECT_NE(put->etag(), replaced->etag());
  EXPECT_NE(replaced->etag(), touched->etag());
  EXPECT_EQ(Get("a")->etag(), touched->etag());
}

TEST_F(DocumentEngineTest, TsNeverGoesBackwardsWhenTheClockDoes) {
  const auto before = Put("a", 60);
  clocks.Advance(-30);
  EXPECT_EQ(Put("a", 60)->ts(), before->ts());
  EXPECT_EQ(Touch("a")->ts(), before->ts());
}

TEST_F(DocumentEngineTest, TouchRestartsTheCountdownAndKeepsBodyAndTtl) {
  ASSERT_TRUE(Put("a", 60).ok());
  clocks.Advance(59);
  ASSERT_TRUE(Touch("a").ok());
  clocks.Advance(59);
  const auto read = Get("a");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->body(), "body");
  EXPECT_EQ(read->ttl(), 60);
  clocks.Advance(1);
  EXPECT_EQ(Get("a").status().code(), StatusCode::kNotFound);
}

TEST_F(DocumentEngineTest, ReplaceWithoutTtlGoesBackToTheDefault) {
  ASSERT_TRUE(Put("a", 60).ok());
  ASSERT_TRUE(Replace("a", std::nullopt).ok());
  clocks.Advance(1000);
  EXPECT_TRUE(Get("a").ok());
}

TEST_F(DocumentEngineTest, CreateOverALiveDocumentIsRefused) {
  ASSERT_TRUE(Create("a").ok());
  EXPECT_EQ(Create("a").status().code(), StatusCode::kAlreadyExists);
}

TEST_F(DocumentEngineTest, ReplaceAndDeleteHonourIfMatch) {
  const auto first = Put("a");
  const auto second = Put("a");
  EXPECT_EQ(Replace("a", std::nullopt, first->etag()).status().code(), StatusCode::kAborted);
  EXPECT_EQ(Delete("a", first->etag()).code(), StatusCode::kAborted);
  const auto third = Replace("a", std::nullopt, second->etag());
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_TRUE(Delete("a", third->etag()).ok());
}

TEST_F(DocumentEngineTest, MissingDocumentIsNotFoundToEveryCall) {
  EXPECT_EQ(Get("a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Touch("a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Replace("a", 1).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Delete("a").code(), StatusCode::kNotFound);
}

TEST_F(DocumentEngineTest, ExpiredDocumentIsNotFoundToEveryCallBeforeTheSweep) {
  ASSERT_TRUE(Put("a", 10).ok());
  clocks.Advance(9);
  EXPECT_TRUE(Get("a").ok());
  clocks.Advance(1);
  EXPECT_EQ(Get("a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Touch("a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Replace("a", 10).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Delete("a").code(), StatusCode::kNotFound);
  EXPECT_THAT(QueryIds(), IsEmpty());
  EXPECT_EQ(CountStored(), 1);
}

TEST_F(DocumentEngineTest, CreateOverAnExpiredDocumentIsANewDocument) {
  const auto old = Put("a", 10);
  clocks.Advance(10);
  const auto created = Create("a", 10);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_NE(created->etag(), old->etag());
  EXPECT_EQ(created->ts(), clocks.now());
  EXPECT_TRUE(Get("a").ok());
  EXPECT_EQ(CountStored(), 1);
}

TEST_F(DocumentEngineTest, DeleteIsReportedAsUntracked) {
  ASSERT_TRUE(Put("a", 10).ok());
  ASSERT_TRUE(Delete("a").ok());
  EXPECT_FALSE(Tracked("a"));
  EXPECT_EQ(store().table->CountUnreported(), 0);
  EXPECT_EQ(CountStored(), 0);
}

TEST_F(DocumentEngineTest, PutOfManyIsOneReport) {
  v1::PutDocumentsRequest request;
  request.set_container(kContainer);
  for (int i = 0; i < 1000; ++i) *request.add_documents() = MakeDocument(std::to_string(i), 60);
  const auto response = engine().Put(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->documents_size(), 1000);
  EXPECT_EQ(sidecar.calls(Method::kTrack), 1);
  EXPECT_EQ(CountStored(), 1000);
  *request.add_documents() = MakeDocument("one too many", 60);
  EXPECT_EQ(engine().Put(request).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(DocumentEngineTest, KeyThatOccursTwiceInAPutIsWrittenInOrder) {
  v1::PutDocumentsRequest request;
  request.set_container(kContainer);
  *request.add_documents() = MakeDocument("a", 60, "first");
  *request.add_documents() = MakeDocument("a", 30, "second");
  const auto response = engine().Put(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(Get("a")->body(), "second");
  EXPECT_EQ(Get("a")->etag(), response->documents(1).etag());
  EXPECT_EQ(Tracked("a")->ttl(), 30);
  EXPECT_EQ(CountStored(), 1);
}

TEST_F(DocumentEngineTest, QueryLeavesExpiredOnesOutOnEveryPage) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put(std::to_string(i), i % 2 == 0 ? 10 : 20).ok());
  clocks.Advance(10);
  EXPECT_THAT(QueryIds(3), ElementsAre("1", "3", "5", "7", "9"));
  EXPECT_EQ(sidecar.calls(Method::kCheck), 1 + 4) << "one check of the container, one per page";
}

TEST_F(DocumentEngineTest, QueryOfAPartitionStaysInIt) {
  for (const std::string& partition : std::vector<std::string>{"", "p", "pp", {"p\0", 2}}) {
    v1::PutDocumentsRequest put;
    put.set_container(kContainer);
    *put.add_documents() = MakeDocument("in [" + partition + "]", std::nullopt);
    put.mutable_documents(0)->set_partition_key(partition);
    ASSERT_TRUE(engine().Put(put).ok());
  }
  v1::QueryDocumentsRequest request;
  request.set_container(kContainer);
  request.set_partition_key("p");
  const auto response = engine().Query(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->documents_size(), 1);
  EXPECT_EQ(response->documents(0).id(), "in [p]");
  EXPECT_EQ(response->judged_at().seconds(), clocks.now());
}

TEST_F(DocumentEngineTest, KeysThatConcatenateAlikeAreApart) {
  v1::PutDocumentsRequest put;
  put.set_container(kContainer);
  *put.add_documents() = MakeDocument("bc", std::nullopt, "a+bc");
  put.mutable_documents(0)->set_partition_key("a");
  *put.add_documents() = MakeDocument("c", std::nullopt, "ab+c");
  put.mutable_documents(1)->set_partition_key("ab");
  ASSERT_TRUE(engine().Put(put).ok());
  EXPECT_EQ(CountStored(), 2);
}

TEST_F(DocumentEngineTest, ForeignPageTokenIsRefused) {
  v1::QueryDocumentsRequest request;
  request.set_container(kContainer);
  request.set_page_token(ContainerPrefix("another"));
  EXPECT_EQ(engine().Query(request).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(DocumentEngineTest, IllegalTtlIsRefusedBeforeAnythingIsWritten) {
  for (const int64_t ttl : {int64_t{0}, int64_t{-2}, int64_t{1} << 31, (int64_t{1} << 32) + 60}) {
    const auto status = Put("a", ttl).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("documents[0].ttl is " + std::to_string(ttl)));
  }
  EXPECT_EQ(CountStored(), 0);
}

TEST_F(DocumentEngineTest, TooLongKeyIsRefused) {
  EXPECT_EQ(Put(std::string(1024, 'x')).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Get(std::string(1024, 'x')).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(DocumentEngineTest, ReadIsUnavailableIfTheSidecarCannotBeAsked) {
  ASSERT_TRUE(Put("a").ok());
  sidecar.SetStatus({grpc::StatusCode::UNAVAILABLE, "down"});
  EXPECT_EQ(Get("a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Touch("a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Create("a").status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(QueryIds(), ElementsAre("ERROR"));
}

TEST_F(DocumentEngineTest, WriteIntoAnUnknownContainerIsRefusedBeforeItIsWritten) {
  sidecar.RemoveContainer(kContainer);
  const auto status = Put("a").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no container \"salesdb/orders\""));
  EXPECT_EQ(CountStored(), 0);
  EXPECT_EQ(store().table->CountUnreported(), 0);
}

// The read met the old version, the check judged the new one.
TEST_F(DocumentEngineTest, VersionWrittenDuringTheCheckDoesNotRevealTheExpiredOne) {
  ASSERT_TRUE(Put("a", 10, "old").ok());
  clocks.Advance(10);
  sidecar.BeforeNext(Method::kCheck, [&] { ASSERT_TRUE(Put("a", 10, "new").ok()); });
  EXPECT_EQ(Get("a")->body(), "new");

  clocks.Advance(10);
  sidecar.BeforeNext(Method::kCheck, [&] { ASSERT_TRUE(Put("a", 10, "newer").ok()); });
  v1::QueryDocumentsRequest request;
  request.set_container(kContainer);
  const auto page = engine().Query(request);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->documents_size(), 1);
  EXPECT_EQ(page->documents(0).body(), "newer");
}

TEST_F(DocumentEngineTest, ConditionalWriteSeesAWriteThatCameBetween) {
  const auto first = Put("a");
  sidecar.BeforeNext(Method::kCheck, [&] { ASSERT_TRUE(Put("a").ok()); });
  EXPECT_EQ(Replace("a", std::nullopt, first->etag()).status().code(), StatusCode::kAborted);

  sidecar.BeforeNext(Method::kCheck, [&] { ASSERT_TRUE(Delete("a").ok()); });
  EXPECT_EQ(Touch("a").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace documentstore
