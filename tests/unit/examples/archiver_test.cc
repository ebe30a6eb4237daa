#include "client/examples/document_store/archiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "google/protobuf/util/json_util.h"
#include "tests/testing/captured_log.h"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/wait.h"
#include "tests/unit/examples/document_store_for_test.h"

namespace documentstore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A store whose archiver reads the feed of a scripted sidecar.
class ArchiverTest : public testing::Test, public DocumentStoreForTest {
 protected:
  std::unique_ptr<Archiver> Start() {
    auto archiver = Archiver::Start(*store().table, client_, {kContainer, "archive", path_});
    EXPECT_TRUE(archiver.ok()) << archiver.status();
    return *std::move(archiver);
  }

  // The feed tells that these versions are expired; the last one has the sequence `last`.
  void Tell(const std::vector<v1::Document>& documents, uint64_t last) {
    ttl::v1::WatchEventsResponse response;
    response.set_epoch(7);
    for (const v1::Document& document : documents) {
      ttl::v1::Event& event = *response.add_events();
      event.set_kind(ttl::v1::EVENT_KIND_EXPIRED);
      event.set_container(kContainer);
      event.set_partition_key(document.partition_key());
      event.set_id(document.id());
      event.set_ts(document.ts());
    }
    response.mutable_events()->rbegin()->set_sequence(last);
    feed_.Answer("WatchEvents", response);
  }

  bool Acknowledges(std::vector<uint64_t> wanted) {
    return ttl::WaitUntil([&] {
      std::vector<uint64_t> sequences;
      for (const auto& request : feed_.Requests<ttl::v1::AcknowledgeRequest>("Acknowledge")) {
        sequences.push_back(request.sequence());
      }
      return sequences == wanted;
    });
  }

  std::vector<v1::Document> Archived() const {
    std::vector<v1::Document> documents;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &documents.emplace_back()).ok())
          << line;
    }
    return documents;
  }

  std::vector<std::string> ArchivedIds() const {
    std::vector<std::string> ids;
    for (const v1::Document& document : Archived()) ids.push_back(document.id());
    return ids;
  }

  ttl::TtlClientOptions Options() {
    ttl::TtlClientOptions options;
    options.address = feed_.address();
    return options;
  }

  ttl::TempDir folder_;
  std::string path_ = folder_.File("archive.jsonl");
  ttl::FakeSidecar feed_;
  ttl::TtlClient client_{Options()};
};

TEST_F(ArchiverTest, WritesAnExpiredDocumentAndAcknowledgesIt) {
  const auto document = Put("a", 60, std::string("b\0\n\xff", 4));
  clocks.Advance(60);
  Tell({*document}, 5);
  const auto archiver = Start();
  EXPECT_TRUE(Acknowledges({5}));
  const auto archived = Archived();
  ASSERT_THAT(archived, SizeIs(1));
  EXPECT_EQ(archived[0].partition_key(), kPartition);
  EXPECT_EQ(archived[0].id(), "a");
  EXPECT_EQ(archived[0].body(), std::string("b\0\n\xff", 4));
  EXPECT_EQ(archived[0].ttl(), 60);
  EXPECT_EQ(archived[0].ts(), document->ts());
  EXPECT_EQ(archived[0].etag(), document->etag());
  const auto watched = feed_.Requests<ttl::v1::WatchEventsRequest>("WatchEvents");
  EXPECT_EQ(watched[0].subscription().container(), kContainer);
  EXPECT_EQ(watched[0].subscription().name(), "archive");
  EXPECT_EQ(feed_.Requests<ttl::v1::AcknowledgeRequest>("Acknowledge")[0].epoch(), 7u);
}

TEST_F(ArchiverTest, AppendsInTheOrderOfTheFeedAlsoAfterARestart) {
  Tell({*Put("b"), *Put("a")}, 5);
  auto archiver = Start();
  EXPECT_TRUE(Acknowledges({5}));
  archiver.reset();
  Tell({*Put("c")}, 7);
  archiver = Start();
  EXPECT_TRUE(Acknowledges({5, 7}));
  EXPECT_THAT(ArchivedIds(), ElementsAre("b", "a", "c"));
}

TEST_F(ArchiverTest, ALineThatACrashHasTornIsWrittenAgain) {
  Tell({*Put("a")}, 5);
  auto archiver = Start();
  EXPECT_TRUE(Acknowledges({5}));
  archiver.reset();
  std::ofstream(path_, std::ios::app) << R"({"partition_key":"cA==","id":"Yg)";
  Tell({*Put("b")}, 7);
  archiver = Start();
  EXPECT_TRUE(Acknowledges({5, 7}));
  EXPECT_THAT(ArchivedIds(), ElementsAre("a", "b"));
}

TEST_F(ArchiverTest, WarnsIfDeletesDoNotWaitForIt) {
  for (const bool is_gate : {false, true}) {
    ttl::v1::GetSubscriptionResponse response;
    response.mutable_subscription()->set_gate(is_gate);
    feed_.Answer("GetSubscription", response);
    Tell({*Put("a")}, is_gate ? 7 : 5);
    ttl::CapturedLog log;
    auto archiver = Start();
    EXPECT_TRUE(ttl::WaitUntil([&] { return feed_.Calls("Acknowledge") == (is_gate ? 2 : 1); }));
    archiver.reset();
    EXPECT_EQ(absl::StrContains(log.text(), "no gate"), !is_gate) << log.text();
  }
  const auto asked = feed_.Requests<ttl::v1::GetSubscriptionRequest>("GetSubscription");
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[0].container(), kContainer);
  EXPECT_EQ(asked[0].name(), "archive");
}

TEST_F(ArchiverTest, LeavesOutWhatIsNoLongerStored) {
  const auto deleted = Put("deleted");
  const auto overwritten = Put("overwritten");
  ASSERT_TRUE(Delete("deleted").ok());
  clocks.Advance(1);
  ASSERT_TRUE(Put("overwritten").ok());
  Tell({*deleted, *overwritten, *Put("a")}, 5);
  const auto archiver = Start();
  EXPECT_TRUE(Acknowledges({5}));
  EXPECT_THAT(ArchivedIds(), ElementsAre("a"));
}

TEST_F(ArchiverTest, AcknowledgesEventsOfOtherKindsWithoutWritingThem) {
  ttl::v1::WatchEventsResponse response;
  response.add_events()->set_kind(ttl::v1::EVENT_KIND_PURGED);
  response.mutable_events(0)->set_sequence(9);
  feed_.Answer("WatchEvents", response);
  const auto archiver = Start();
  EXPECT_TRUE(Acknowledges({9}));
  EXPECT_THAT(ArchivedIds(), IsEmpty());
}

TEST_F(ArchiverTest, AnAcknowledgementThatFailsIsMadeAgainWithTheNextHeartbeat) {
  Tell({*Put("a")}, 5);
  feed_.Fail("Acknowledge", {grpc::StatusCode::PERMISSION_DENIED, "another consumer"});
  feed_.Answer("WatchEvents", ttl::v1::WatchEventsResponse());
  feed_.Answer("WatchEvents", ttl::v1::WatchEventsResponse());
  const auto archiver = Start();
  EXPECT_TRUE(Acknowledges({5, 5}));
  Tell({*Put("b")}, 6);
  EXPECT_TRUE(Acknowledges({5, 5, 6}));
  EXPECT_THAT(ArchivedIds(), ElementsAre("a", "b"));
}

TEST_F(ArchiverTest, WhatTheSidecarHasNotSentSinceItsRestartComesAgain) {
  Tell({*Put("a")}, 5);
  feed_.Fail("Acknowledge", {grpc::StatusCode::OUT_OF_RANGE, "not sent"});
  feed_.Answer("WatchEvents", ttl::v1::WatchEventsResponse());
  Tell({*Put("a")}, 5);
  const auto archiver = Start();
  EXPECT_TRUE(Acknowledges({5, 5}));
  EXPECT_THAT(ArchivedIds(), ElementsAre("a", "a"));
}

TEST_F(ArchiverTest, AcknowledgesNothingThatItCouldNotWrite) {
  path_ = "/dev/full";
  Tell({*Put("a")}, 5);
  Tell({*Put("b")}, 6);
  const auto archiver = Start();
  EXPECT_TRUE(ttl::WaitUntil([&] { return feed_.Calls("WatchEvents") == 1; }));
  feed_.Fail("WatchEvents", {grpc::StatusCode::UNAVAILABLE, "restarts"});
  EXPECT_TRUE(ttl::WaitUntil([&] { return feed_.Calls("WatchEvents") == 2; }));
  EXPECT_EQ(feed_.Calls("Acknowledge"), 0);
}

TEST_F(ArchiverTest, AFileThatCannotBeOpenedIsAnError) {
  const auto archiver = Archiver::Start(*store().table, client_,
                                        {kContainer, "archive", folder_.File("missing/file")});
  EXPECT_EQ(archiver.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace documentstore
