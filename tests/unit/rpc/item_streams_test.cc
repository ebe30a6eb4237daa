#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Far more than the server reads ahead.
constexpr int kManyMessages = 500;

// One stream, with a deadline, as a client has it.
template <typename Request, typename Response>
class ClientStream {
 public:
  using Open = std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> (
      v1::ItemService::Stub::*)(grpc::ClientContext*);

  ClientStream(RpcSidecar& sidecar, Open open) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    stream_ = (sidecar.items().*open)(&context_);
  }

  void Write(const std::string& text) { EXPECT_TRUE(stream_->Write(Proto<Request>(text))); }
  // An empty response if the stream has ended.
  Response Read() {
    Response response;
    if (!stream_->Read(&response)) response.Clear();
    return response;
  }
  Response Exchange(const std::string& text) {
    Write(text);
    return Read();
  }
  void WritesDone() { stream_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  grpc::Status Finish() {
    Response response;
    while (stream_->Read(&response)) continue;
    return stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream_;
};

using CheckStream =
    ClientStream<v1::StreamCheckVisibilityRequest, v1::StreamCheckVisibilityResponse>;
using TrackStream = ClientStream<v1::StreamTrackItemsRequest, v1::StreamTrackItemsResponse>;

class ItemStreamsTest : public testing::Test {
 protected:
  explicit ItemStreamsTest(RpcSidecar::Options options = {}) : sidecar_(std::move(options)) {
    EXPECT_THAT(sidecar_.Create(-1), IsOk());
  }

  CheckStream OpenChecks() {
    return CheckStream(sidecar_, &v1::ItemService::Stub::StreamCheckVisibility);
  }
  TrackStream OpenTracks() {
    return TrackStream(sidecar_, &v1::ItemService::Stub::StreamTrackItems);
  }

  // A message about items of the partition "p" in the container "c".
  std::string CheckMessage(const std::vector<std::string>& ids) const {
    std::string checks;
    for (const std::string& id : ids) {
      absl::StrAppend(&checks, " checks { partition_key: 'p' id: '", id, "' }");
    }
    return absl::StrCat("request { container: 'c' ", checks, " }");
  }
  std::string TrackMessage(const std::string& id, int64_t ts, int64_t ttl) const {
    return absl::StrCat("request { container: 'c' items { partition_key: 'p' id: '", id,
                        "' ts: ", ts, " ttl: ", ttl, " } }");
  }

  RpcSidecar sidecar_;
};

TEST_F(ItemStreamsTest, AMessageOfChecksIsAnsweredAsACallWouldBe) {
  ASSERT_THAT(sidecar_.Track("live", sidecar_.Now(), 10), IsOk());
  ASSERT_THAT(sidecar_.Track("old", sidecar_.Now() - 10, 10), IsOk());
  CheckStream stream = OpenChecks();
  const auto response = stream.Exchange(CheckMessage({"live", "old", "none"})).response();
  EXPECT_THAT(response.visibilities(), ElementsAre(v1::VISIBILITY_VISIBLE, v1::VISIBILITY_EXPIRED,
                                                   v1::VISIBILITY_UNTRACKED));
  EXPECT_THAT(response.expire_times(), ElementsAre(sidecar_.Now() + 10, sidecar_.Now(), 0));
  EXPECT_EQ(response.judged_at().seconds(), sidecar_.Now());
}

TEST_F(ItemStreamsTest, ChecksAreJudgedWhenTheyAreRead) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 10), IsOk());
  CheckStream stream = OpenChecks();
  EXPECT_THAT(stream.Exchange(CheckMessage({"a"})).response().visibilities(),
              ElementsAre(v1::VISIBILITY_VISIBLE));
  sidecar_.clock().Advance(absl::Seconds(10));
  EXPECT_THAT(stream.Exchange(CheckMessage({"a"})).response().visibilities(),
              ElementsAre(v1::VISIBILITY_EXPIRED));
  ASSERT_THAT(sidecar_.SetDefaultTtl(std::nullopt), IsOk());
  EXPECT_THAT(stream.Exchange(CheckMessage({"a"})).response().visibilities(),
              ElementsAre(v1::VISIBILITY_VISIBLE));
}

TEST_F(ItemStreamsTest, ARefusedMessageHasItsOwnErrorAndTheStreamGoesOn) {
  CheckStream checks = OpenChecks();
  const auto unknown = checks.Exchange("request { container: 'nowhere' checks { id: 'a' } }");
  EXPECT_EQ(unknown.error().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.error().message(), HasSubstr("\"nowhere\""));
  const auto empty = checks.Exchange("");
  EXPECT_EQ(empty.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(checks.Exchange(CheckMessage({"a"})).has_response());

  TrackStream tracks = OpenTracks();
  const auto refused = tracks.Exchange(TrackMessage("a", sidecar_.Now(), 0));
  EXPECT_EQ(refused.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.error().message(), HasSubstr("items[0].ttl is 0"));
  EXPECT_FALSE(refused.error().has_retry_after());
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(tracks.Exchange(TrackMessage("a", sidecar_.Now(), 1)).response().results(),
              ElementsAre(v1::TRACK_RESULT_TRACKED));
  EXPECT_THAT(sidecar_.Get("a"), IsOk());
}

TEST_F(ItemStreamsTest, MessagesSentAheadAreAnsweredInTheirOrder) {
  TrackStream tracks = OpenTracks();
  CheckStream checks = OpenChecks();
  // Every third message is refused on the spot, the others wait for a commit.
  for (int i = 0; i < kManyMessages; ++i) {
    tracks.Write(TrackMessage(absl::StrCat(i), sidecar_.Now(), i % 3 == 0 ? -7 : 60));
  }
  tracks.WritesDone();
  for (int i = 0; i < kManyMessages; ++i) {
    const v1::StreamTrackItemsResponse answer = tracks.Read();
    ASSERT_EQ(answer.has_error(), i % 3 == 0) << i;
    ASSERT_EQ(answer.has_response(), i % 3 != 0) << i;
  }
  EXPECT_TRUE(tracks.Finish().ok());

  for (int i = 0; i < kManyMessages; ++i) checks.Write(CheckMessage({absl::StrCat(i)}));
  checks.WritesDone();
  for (int i = 0; i < kManyMessages; ++i) {
    ASSERT_THAT(checks.Read().response().visibilities(),
                ElementsAre(i % 3 == 0 ? v1::VISIBILITY_UNTRACKED : v1::VISIBILITY_VISIBLE))
        << i;
  }
  EXPECT_TRUE(checks.Finish().ok());
}

TEST_F(ItemStreamsTest, ReportsOfOneStreamApplyInTheirOrder) {
  TrackStream stream = OpenTracks();
  for (int i = 0; i < kManyMessages; ++i) stream.Write(TrackMessage("a", sidecar_.Now(), i + 1));
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
  const auto item = sidecar_.Get("a");
  ASSERT_THAT(item, IsOk());
  EXPECT_EQ(item->item().ttl(), kManyMessages);
}

TEST_F(ItemStreamsTest, DeletesApplyInTheirOrderAmongReports) {
  const std::string deletion =
      "untrack { container: 'c' items { partition_key: 'p' id: 'a' sequence: 7 } }";
  TrackStream stream = OpenTracks();
  for (int i = 0; i < kManyMessages; ++i) {
    stream.Write(TrackMessage("a", sidecar_.Now(), 60));
    stream.Write(deletion);
  }
  stream.WritesDone();
  for (int i = 0; i < kManyMessages; ++i) {
    ASSERT_THAT(stream.Read().response().results(), ElementsAre(v1::TRACK_RESULT_TRACKED)) << i;
    ASSERT_THAT(stream.Read().untracked().results(), ElementsAre(v1::UNTRACK_RESULT_UNTRACKED))
        << i;
  }
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ItemStreamsTest, AMessageThatIsBothReportAndDeleteIsRefused) {
  TrackStream stream = OpenTracks();
  const auto answer = stream.Exchange(TrackMessage("a", sidecar_.Now(), 60) +
                                      " untrack { container: 'c' items { id: 'b' ts: 5 } }");
  EXPECT_EQ(answer.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(answer.error().message(), HasSubstr("untrack"));
  EXPECT_THAT(sidecar_.Get("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(stream.Exchange("untrack { container: 'c' items { id: 'b' } }").error().code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ItemStreamsTest, AnAnsweredReportIsDurableAndSeenByTheNextCheck) {
  TrackStream tracks = OpenTracks();
  CheckStream checks = OpenChecks();
  EXPECT_TRUE(tracks.Exchange(TrackMessage("a", sidecar_.Now(), 60)).has_response());
  EXPECT_THAT(checks.Exchange(CheckMessage({"a"})).response().visibilities(),
              ElementsAre(v1::VISIBILITY_VISIBLE));
  sidecar_.Restart();
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
}

TEST_F(ItemStreamsTest, AClientThatIsGoneLeavesNothingBehind) {
  for (int round = 0; round < 20; ++round) {
    TrackStream tracks = OpenTracks();
    CheckStream checks = OpenChecks();
    for (int i = 0; i < 20; ++i) {
      tracks.Write(TrackMessage(absl::StrCat(round, "-", i), sidecar_.Now(), 60));
      checks.Write(CheckMessage({"a"}));
    }
    tracks.Cancel();
    checks.Cancel();
    EXPECT_EQ(tracks.Finish().error_code(), grpc::StatusCode::CANCELLED);
    EXPECT_EQ(checks.Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(OpenTracks().Exchange(TrackMessage("after", sidecar_.Now(), 60)).has_response());
}

TEST_F(ItemStreamsTest, AServerThatStopsEndsItsStreamsAsUnavailable) {
  TrackStream tracks = OpenTracks();
  CheckStream checks = OpenChecks();
  EXPECT_TRUE(tracks.Exchange(TrackMessage("a", sidecar_.Now(), 60)).has_response());
  EXPECT_TRUE(checks.Exchange(CheckMessage({"a"})).has_response());
  sidecar_.Restart();
  for (const grpc::Status& status : {tracks.Finish(), checks.Finish()}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_THAT(status.error_message(), HasSubstr("shutting down"));
  }
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
}

class FullQueueTest : public ItemStreamsTest {
 protected:
  FullQueueTest() : ItemStreamsTest(TinyQueue()) {}

  static RpcSidecar::Options TinyQueue() {
    RpcSidecar::Options options;
    options.storage.max_queued_bytes = 1;
    return options;
  }
};

TEST_F(FullQueueTest, AMessageBeyondTheQueueSaysWhenToTryAgain) {
  TrackStream stream = OpenTracks();
  for (int i = 0; i < 2; ++i) {
    const auto answer = stream.Exchange(TrackMessage("a", sidecar_.Now(), 60));
    EXPECT_EQ(answer.error().code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_GT(answer.error().retry_after().nanos(), 0);
  }
}

}  // namespace
}  // namespace ttl
