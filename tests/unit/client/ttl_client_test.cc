#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/client_channel.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::Property;
using testing::SizeIs;

// What they are made of is no part of the interface.
static_assert(!std::is_constructible_v<ContainerClient, ClientCalls&>);
static_assert(!std::is_constructible_v<OperatorClient, ClientCalls&>);

const grpc::Status kUnavailable(grpc::StatusCode::UNAVAILABLE, "going down");
const grpc::Status kQueueFull(grpc::StatusCode::RESOURCE_EXHAUSTED, "queue is full");

v1::Item Item(const std::string& id) {
  v1::Item item;
  item.set_id(id);
  item.set_ts(1000);
  return item;
}

v1::Item SequencedItem(const std::string& id) {
  v1::Item item = Item(id);
  item.set_sequence(7);
  return item;
}

v1::ItemDeletion Deletion(const std::string& id) {
  v1::ItemDeletion deletion;
  deletion.set_id(id);
  deletion.set_ts(1000);
  return deletion;
}

v1::ItemKey Key(const std::string& id) {
  v1::ItemKey key;
  key.set_partition_key("p");
  key.set_id(id);
  return key;
}

v1::VisibilityCheck Check(const std::string& id) {
  v1::VisibilityCheck check;
  check.set_id(id);
  return check;
}

// With deadlines that no machine misses that stands still for a second.
TtlClientOptions DefaultOptions(const std::string& address) {
  TtlClientOptions options;
  options.address = address;
  options.check_deadline = absl::Seconds(60);
  options.report_deadline = absl::Seconds(60);
  options.admin_deadline = absl::Seconds(60);
  return options;
}

class TtlClientTest : public testing::Test {
 protected:
  // Without sharing, each check is a call, which can be told what to answer. What is
  // shared is the matter of shared_checks_test.cc.
  static TtlClientOptions Options(const std::string& address) {
    TtlClientOptions options = DefaultOptions(address);
    options.share_checks = false;
    return options;
  }

  FakeSidecar sidecar_;
  TtlClient client_{Options(sidecar_.address())};
};

TEST_F(TtlClientTest, TrackSendsTheItemAsItIs) {
  v1::Item item = SequencedItem(std::string("a\0b", 3));
  item.set_ttl(-1);
  EXPECT_EQ(client_.TrackItem("sales/orders", item).value(), v1::TRACK_RESULT_TRACKED);

  const auto requests = sidecar_.Requests<v1::TrackItemsRequest>("TrackItems");
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].container(), "sales/orders");
  EXPECT_EQ(requests[0].items(0).SerializeAsString(), item.SerializeAsString());
}

TEST_F(TtlClientTest, AbsentTtlStaysAbsent) {
  ASSERT_TRUE(client_.TrackItem("c", Item("a")).ok());
  EXPECT_FALSE(sidecar_.Requests<v1::TrackItemsRequest>("TrackItems")[0].items(0).has_ttl());
}

TEST_F(TtlClientTest, EveryCallOfACheckIsAsOfTheSameInstant) {
  const std::vector<v1::VisibilityCheck> checks(1001);
  const absl::Time as_of = absl::FromUnixSeconds(1'800'000'000) + absl::Nanoseconds(5);
  EXPECT_THAT(client_.CheckVisibility("c", checks, as_of).value(), SizeIs(1001));
  const auto requests = sidecar_.Requests<v1::CheckVisibilityRequest>("CheckVisibility");
  ASSERT_THAT(requests, SizeIs(2));
  for (const v1::CheckVisibilityRequest& request : requests) {
    EXPECT_EQ(request.as_of().seconds(), 1'800'000'000);
    EXPECT_EQ(request.as_of().nanos(), 5);
  }
}

TEST_F(TtlClientTest, ManyEntriesAreSentInCallsOfAThousandInOrder) {
  std::vector<v1::VisibilityCheck> checks;
  for (int i = 0; i < 2500; ++i) checks.push_back(Check(absl::StrCat(i)));
  EXPECT_THAT(client_.CheckVisibility("c", checks).value(), SizeIs(2500));

  const auto requests = sidecar_.Requests<v1::CheckVisibilityRequest>("CheckVisibility");
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].checks_size(), 1000);
  EXPECT_EQ(requests[1].checks(0).id(), "1000");
  EXPECT_EQ(requests[2].checks_size(), 500);
}

TEST_F(TtlClientTest, FailureInALaterCallNamesItsEntriesAndSendsNoMore) {
  v1::TrackItemsResponse tracked;
  for (int i = 0; i < 1000; ++i) tracked.add_results(v1::TRACK_RESULT_TRACKED);
  sidecar_.Answer("TrackItems", tracked);
  sidecar_.Fail("TrackItems", {grpc::StatusCode::INVALID_ARGUMENT, "items[5].ttl is 0"});

  const absl::Status status =
      client_.TrackItems("c", std::vector<v1::Item>(2500, Item("a"))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "entries 1000 to 1999 of 2500: items[5].ttl is 0");
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 2);
}

TEST_F(TtlClientTest, NoEntriesMakeNoCall) {
  EXPECT_THAT(client_.TrackItems("c", {}).value(), SizeIs(0));
  EXPECT_THAT(client_.CheckVisibility("c", {}).value(), SizeIs(0));
  EXPECT_EQ(sidecar_.Calls("TrackItems") + sidecar_.Calls("CheckVisibility"), 0);
}

TEST_F(TtlClientTest, AnswersCarryExpireTimeAndInstant) {
  v1::CheckVisibilityResponse response;
  response.add_visibilities(v1::VISIBILITY_EXPIRED);
  response.add_visibilities(v1::VISIBILITY_UNTRACKED);
  response.add_expire_times(1060);
  response.add_expire_times(0);
  response.mutable_judged_at()->set_seconds(1060);
  response.mutable_judged_at()->set_nanos(500);
  sidecar_.Answer("CheckVisibility", response);

  const auto answers =
      client_.CheckVisibility("c", std::vector<v1::VisibilityCheck>{Check("a"), Check("b")});
  ASSERT_TRUE(answers.ok());
  EXPECT_TRUE((*answers)[0].expired());
  EXPECT_EQ((*answers)[0].expire_time, 1060);
  EXPECT_EQ((*answers)[0].judged_at, absl::FromUnixSeconds(1060) + absl::Nanoseconds(500));
  EXPECT_FALSE((*answers)[1].expired());
  EXPECT_EQ((*answers)[1].visibility, v1::VISIBILITY_UNTRACKED);
  EXPECT_EQ((*answers)[1].expire_time, std::nullopt);
}

TEST_F(TtlClientTest, UnknownVisibilityCountsAsVisible) {
  for (const int unknown : {0, 4, 99, -1}) {
    v1::CheckVisibilityResponse response;
    response.mutable_visibilities()->Add(unknown);
    response.add_expire_times(0);
    sidecar_.Answer("CheckVisibility", response);
    EXPECT_EQ(client_.CheckItem("c", Check("a"))->visibility, v1::VISIBILITY_VISIBLE) << unknown;
  }
}

TEST_F(TtlClientTest, AnswersThatDoNotMatchTheEntriesAreAnError) {
  v1::CheckVisibilityResponse response;
  sidecar_.Answer("CheckVisibility", response);
  response.add_visibilities(v1::VISIBILITY_EXPIRED);
  sidecar_.Answer("CheckVisibility", response);
  response.add_expire_times(0);
  response.add_visibilities(v1::VISIBILITY_EXPIRED);
  sidecar_.Answer("CheckVisibility", response);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_.CheckItem("c", Check("a")).status().code(), absl::StatusCode::kInternal);
  }
  sidecar_.Answer("TrackItems", v1::TrackItemsResponse());
  EXPECT_EQ(client_.TrackItem("c", Item("a")).status().code(), absl::StatusCode::kInternal);
  sidecar_.Answer("UntrackItems", v1::UntrackItemsResponse());
  EXPECT_EQ(client_.UntrackItem("c", Deletion("a")).status().code(), absl::StatusCode::kInternal);
  for (const char* touched : {"expire_times: 0", "results: TOUCH_RESULT_TOUCHED"}) {
    sidecar_.Answer("TouchItems", Proto<v1::TouchItemsResponse>(touched));
    EXPECT_EQ(client_.TouchItem("c", Key("a")).status().code(), absl::StatusCode::kInternal);
  }
}

// Touches

TEST_F(TtlClientTest, ATouchTellsWhatBecameOfEachKey) {
  sidecar_.Answer("TouchItems", Proto<v1::TouchItemsResponse>(
                                    "touch_time: 1000 "
                                    "results: TOUCH_RESULT_TOUCHED expire_times: 1060 "
                                    "results: TOUCH_RESULT_RECENT expire_times: 0 "
                                    "results: TOUCH_RESULT_EXPIRED expire_times: 900 "
                                    "results: TOUCH_RESULT_NOT_TRACKED expire_times: 0"));
  const std::vector<v1::ItemKey> keys = {Key("a"), Key("b"), Key("c"), Key("d")};
  const auto answers = client_.TouchItems("c", keys, absl::Minutes(5));
  ASSERT_THAT(answers, IsOk());
  const auto is = [](v1::TouchResult result, std::optional<int64_t> expire_time, bool expired) {
    return AllOf(Field(&TouchAnswer::result, result), Field(&TouchAnswer::expire_time, expire_time),
                 Field(&TouchAnswer::touch_time, 1000), Property(&TouchAnswer::expired, expired));
  };
  EXPECT_THAT(*answers, ElementsAre(is(v1::TOUCH_RESULT_TOUCHED, 1060, false),
                                    is(v1::TOUCH_RESULT_RECENT, std::nullopt, false),
                                    is(v1::TOUCH_RESULT_EXPIRED, 900, true),
                                    is(v1::TOUCH_RESULT_NOT_TRACKED, std::nullopt, false)));
  EXPECT_EQ(sidecar_.Requests<v1::TouchItemsRequest>("TouchItems")[0].ShortDebugString(),
            "container: \"c\" keys { partition_key: \"p\" id: \"a\" } "
            "keys { partition_key: \"p\" id: \"b\" } keys { partition_key: \"p\" id: \"c\" } "
            "keys { partition_key: \"p\" id: \"d\" } unless_touched_within { seconds: 300 }");
}

TEST_F(TtlClientTest, ManyTouchesAreSentInCallsOfAThousandWithTheSameTime) {
  const std::vector<v1::ItemKey> keys(1001, Key("a"));
  EXPECT_THAT(client_.TouchItems("c", keys, absl::Milliseconds(1500)).value(), SizeIs(1001));
  const auto requests = sidecar_.Requests<v1::TouchItemsRequest>("TouchItems");
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].keys_size(), 1000);
  // The sidecar refuses it.
  for (const auto& request : requests) {
    EXPECT_EQ(ToDuration(request.unless_touched_within()), absl::Milliseconds(1500));
  }
}

TEST_F(TtlClientTest, TouchesAreRepeatedAsOftenAsReportsWithSequences) {
  for (int i = 0; i < 5; ++i) sidecar_.Fail("TouchItems", kUnavailable);
  const auto touched = client_.TouchItem("c", Key("a"));
  ASSERT_THAT(touched, IsOk());
  EXPECT_EQ(touched->result, v1::TOUCH_RESULT_TOUCHED);
  EXPECT_EQ(sidecar_.Calls("TouchItems"), 6);
  for (int i = 0; i < 4; ++i) sidecar_.Fail("TouchItems", kQueueFull);
  EXPECT_THAT(client_.TouchItem("c", Key("a")), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(sidecar_.Calls("TouchItems"), 10);
}

TEST_F(TtlClientTest, ServerErrorsKeepCodeAndMessage) {
  sidecar_.Fail("GetItem", {grpc::StatusCode::NOT_FOUND, "item \"a\" is not tracked"});
  EXPECT_EQ(client_.GetItem("c", "", "a").status(),
            absl::NotFoundError("item \"a\" is not tracked"));
}

TEST_F(TtlClientTest, ReadsAreRepeatedWhileTheSidecarIsUnavailable) {
  sidecar_.Fail("CheckVisibility", kUnavailable);
  sidecar_.Fail("CheckVisibility", kUnavailable);
  EXPECT_TRUE(client_.CheckItem("c", Check("a")).ok());
  EXPECT_EQ(sidecar_.Calls("CheckVisibility"), 3);
}

TEST_F(TtlClientTest, RepeatsGoOnUntilTheDeadline) {
  // More than gRPC itself would make.
  for (int i = 0; i < 5; ++i) sidecar_.Fail("GetContainer", kUnavailable);
  EXPECT_TRUE(client_.containers().Get("c").ok());
  EXPECT_EQ(sidecar_.Calls("GetContainer"), 6);
}

TEST_F(TtlClientTest, TheDeadlineEndsRepeatsWithTheirReason) {
  TtlClientOptions options = Options(sidecar_.address());
  options.admin_deadline = absl::Milliseconds(300);
  TtlClient client(options);
  for (int i = 0; i < 20; ++i) sidecar_.Fail("GetContainer", kUnavailable);
  EXPECT_THAT(client.containers().Get("c").status(),
              absl::UnavailableError(
                  absl::StrCat("sidecar at ", sidecar_.address(), " is unavailable: going down")));
}

TEST_F(TtlClientTest, WhoDoesNotWaitForTheSidecarIsToldSoon) {
  TtlClientOptions options = Options(sidecar_.address());
  options.wait_for_sidecar = false;
  TtlClient client(options);
  for (int i = 0; i < 10; ++i) sidecar_.Fail("GetContainer", kUnavailable);
  EXPECT_EQ(client.containers().Get("c").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(sidecar_.Calls("GetContainer"), 4);
}

// A sidecar that stops may cancel what is under way.
TEST_F(TtlClientTest, ACallCancelledByTheSidecarIsOneOfASidecarThatIsAway) {
  const grpc::Status cancelled(grpc::StatusCode::CANCELLED, "CANCELLED");
  for (const char* method : {"CheckVisibility", "TrackItems", "TrackItems", "CreateContainer"}) {
    sidecar_.Fail(method, cancelled);
  }
  EXPECT_TRUE(client_.CheckItem("c", Check("a")).ok());
  EXPECT_EQ(client_.TrackItem("c", Item("a")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(client_.TrackItem("c", SequencedItem("a")).ok());
  EXPECT_EQ(client_.containers().Create(v1::Container()).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(sidecar_.Calls("CheckVisibility"), 2);
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 3);
  EXPECT_EQ(sidecar_.Calls("CreateContainer"), 1);
}

TEST_F(TtlClientTest, ReportsThatAStoppingSidecarRefusedAreRepeated) {
  sidecar_.Fail("TrackItems", kUnavailable, 1);
  sidecar_.Fail("UntrackItems", kUnavailable, 1);
  EXPECT_TRUE(client_.TrackItem("c", Item("a")).ok());
  EXPECT_TRUE(client_.UntrackItem("c", Deletion("a")).ok());
  sidecar_.Fail("CreateContainer", kUnavailable, 1);
  EXPECT_FALSE(client_.containers().Create(v1::Container()).ok());
  EXPECT_EQ(sidecar_.Calls("CreateContainer"), 1);
}

TEST_F(TtlClientTest, UnansweredReportsAreNotRepeatedUnlessAllHaveASequence) {
  sidecar_.Fail("TrackItems", kUnavailable);
  sidecar_.Fail("UntrackItems", kUnavailable);
  const std::vector<v1::Item> mixed = {SequencedItem("a"), Item("b")};
  EXPECT_EQ(client_.TrackItems("c", mixed).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(client_.UntrackItem("c", Deletion("a")).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 1);
  EXPECT_EQ(sidecar_.Calls("UntrackItems"), 1);
}

TEST_F(TtlClientTest, UnansweredReportsWithSequencesAreRepeated) {
  sidecar_.Fail("TrackItems", kUnavailable);
  sidecar_.Fail("UntrackItems", kUnavailable);
  v1::ItemDeletion deletion = Deletion("a");
  deletion.set_sequence(8);
  EXPECT_TRUE(client_.TrackItem("c", SequencedItem("a")).ok());
  EXPECT_TRUE(client_.UntrackItem("c", deletion).ok());
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 2);
  EXPECT_EQ(sidecar_.Calls("UntrackItems"), 2);
}

TEST_F(TtlClientTest, RefusedReportsAreRepeatedWhenTheServerSaysSo) {
  sidecar_.Fail("TrackItems", kQueueFull, 1);
  sidecar_.Fail("TrackItems", kQueueFull, 1);
  EXPECT_TRUE(client_.TrackItem("c", Item("a")).ok());
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 3);
}

TEST_F(TtlClientTest, PushBackLongerThanTheDeadlineEndsTheCall) {
  TtlClientOptions options = Options(sidecar_.address());
  // Enough for the call to get there, whatever the machine does.
  options.report_deadline = absl::Seconds(5);
  TtlClient client(options);
  sidecar_.Fail("TrackItems", kQueueFull, 60000);
  EXPECT_FALSE(client.TrackItem("c", Item("a")).ok());
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 1);
}

TEST_F(TtlClientTest, NegativePushBackMeansDoNotRepeat) {
  sidecar_.Fail("TrackItems", kQueueFull, -1);
  EXPECT_EQ(client_.TrackItem("c", Item("a")).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 1);
}

// A store that touches what is read must not wait for a rebuild with each read.
TEST_F(TtlClientTest, TouchesThatCannotBeJudgedForLongAreNotRepeated) {
  sidecar_.Fail("TouchItems", kUnavailable, /*pushback_milliseconds=*/-1);
  EXPECT_THAT(client_.TouchItem("c", Key("a")), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(sidecar_.Calls("TouchItems"), 1);
  const auto stub = v1::ItemService::NewStub(NewRepeatingChannel(Options(sidecar_.address())));
  sidecar_.Fail("TouchItems", kUnavailable, /*pushback_milliseconds=*/-1);
  grpc::ClientContext context;
  v1::TouchItemsResponse response;
  EXPECT_FALSE(stub->TouchItems(&context, v1::TouchItemsRequest(), &response).ok());
  EXPECT_EQ(sidecar_.Calls("TouchItems"), 2);
}

TEST_F(TtlClientTest, AChannelForStubsRepeatsTouches) {
  const auto stub = v1::ItemService::NewStub(NewRepeatingChannel(Options(sidecar_.address())));
  sidecar_.Fail("TouchItems", kUnavailable);
  sidecar_.Fail("TouchItems", kQueueFull);
  grpc::ClientContext context;
  v1::TouchItemsResponse response;
  EXPECT_TRUE(stub->TouchItems(&context, v1::TouchItemsRequest(), &response).ok());
  EXPECT_EQ(sidecar_.Calls("TouchItems"), 3);
}

TEST_F(TtlClientTest, BatchesAboveTheDefaultRetryBufferAreRepeatedToo) {
  std::vector<v1::Item> items(1000, SequencedItem("a"));
  for (v1::Item& item : items) item.set_partition_key(std::string(2048, 'p'));
  sidecar_.Fail("TrackItems", kUnavailable);
  EXPECT_TRUE(client_.TrackItems("c", items).ok());
  EXPECT_EQ(sidecar_.Calls("TrackItems"), 2);
}

TEST_F(TtlClientTest, ChangesByOperatorsAreNeverRepeated) {
  for (const char* method : {"CreateContainer", "UpdateContainer", "DeleteContainer",
                             "PauseDeletes", "ResumeDeletes", "AcceptClock"}) {
    sidecar_.Fail(method, kUnavailable);
  }
  EXPECT_FALSE(client_.containers().Create(v1::Container()).ok());
  EXPECT_FALSE(client_.containers().Update(v1::Container(), {}).ok());
  EXPECT_FALSE(client_.containers().Delete("c").ok());
  EXPECT_FALSE(client_.operations().PauseDeletes("c", "why").ok());
  EXPECT_FALSE(client_.operations().ResumeDeletes("c").ok());
  EXPECT_FALSE(client_.operations().AcceptClock().ok());
  for (const char* method : {"CreateContainer", "UpdateContainer", "DeleteContainer",
                             "PauseDeletes", "ResumeDeletes", "AcceptClock"}) {
    EXPECT_EQ(sidecar_.Calls(method), 1) << method;
  }
}

// gRPC's threads and locks do not come along.
TEST_F(TtlClientTest, AChildOfTheProcessIsRefused) {
  ASSERT_TRUE(client_.containers().Get("c").ok());
  const pid_t child = fork();
  if (child == 0) {
    const bool refused =
        absl::IsFailedPrecondition(client_.containers().Get("c").status()) &&
        absl::IsFailedPrecondition(client_.CheckItem("c", Check("a")).status()) &&
        absl::IsFailedPrecondition(client_.operations().VerifyData([](const auto& /*message*/) {}));
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(client_.containers().Get("c").ok());
}

TEST_F(TtlClientTest, EveryKindOfCallEndsAtItsDeadline) {
  TtlClientOptions options = Options(sidecar_.address());
  options.check_deadline = absl::Milliseconds(50);
  options.report_deadline = absl::Milliseconds(60);
  options.admin_deadline = absl::Milliseconds(70);
  TtlClient client(options);
  for (const char* method : {"CheckVisibility", "TrackItems", "TouchItems", "GetContainer"}) {
    sidecar_.Hang(method);
  }
  const absl::Status check = client.CheckItem("c", Check("a")).status();
  EXPECT_EQ(check.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(check.message()),
              AllOf(HasSubstr(sidecar_.address()), HasSubstr("50ms")));
  EXPECT_THAT(std::string(client.TrackItem("c", Item("a")).status().message()), HasSubstr("60ms"));
  EXPECT_THAT(std::string(client.TouchItem("c", Key("a")).status().message()), HasSubstr("60ms"));
  EXPECT_THAT(std::string(client.containers().Get("c").status().message()), HasSubstr("70ms"));
}

TEST_F(TtlClientTest, SingleChecksShareAStream) {
  TtlClient client{DefaultOptions(sidecar_.address())};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.CheckItem("c", Check("a")).ok());
  EXPECT_EQ(sidecar_.Calls("StreamCheckVisibility"), 3);
  EXPECT_EQ(sidecar_.Calls("CheckVisibility"), 0);
}

TEST_F(TtlClientTest, SharedChecksAreRepeatedLikeAnyRead) {
  TtlClient client{DefaultOptions(sidecar_.address())};
  sidecar_.Fail("StreamCheckVisibility", kUnavailable);
  sidecar_.Fail("CheckVisibility", kUnavailable);
  sidecar_.Fail("CheckVisibility", kUnavailable);
  EXPECT_TRUE(client.CheckItem("c", Check("a")).ok());
  EXPECT_EQ(sidecar_.Calls("CheckVisibility"), 3);
}

TEST_F(TtlClientTest, SharedChecksEndAtTheirDeadlineWhicheverWayTheyGo) {
  TtlClientOptions options = DefaultOptions(sidecar_.address());
  options.check_deadline = absl::Milliseconds(50);
  TtlClient client(options);
  sidecar_.Hang("StreamCheckVisibility");
  EXPECT_THAT(std::string(client.CheckItem("c", Check("a")).status().message()),
              AllOf(HasSubstr(sidecar_.address()), HasSubstr("within 50ms")));
  sidecar_.Fail("StreamCheckVisibility", kUnavailable);
  sidecar_.Hang("CheckVisibility");
  EXPECT_THAT(std::string(client.CheckItem("c", Check("a")).status().message()),
              AllOf(HasSubstr(sidecar_.address()), HasSubstr("within 50ms")));
}

TEST(TtlClientWithoutServerTest, SharedChecksAreAnsweredOnceTheSidecarIsBack) {
  const TempDir directory;
  const std::string socket = directory.File("sidecar.sock");
  std::optional<FakeSidecar> sidecar(std::in_place, socket);
  TtlClient client{DefaultOptions(sidecar->address())};
  ASSERT_TRUE(client.CheckItem("c", Check("a")).ok());
  sidecar.reset();
  TtlClientOptions impatient = DefaultOptions(client.address());
  impatient.wait_for_sidecar = false;
  const absl::Status down = TtlClient(impatient).CheckItem("c", Check("a")).status();
  EXPECT_EQ(down.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(down.message()), HasSubstr(socket));
  sidecar.emplace(socket);
  EXPECT_TRUE(WaitUntil([&] { return client.CheckItem("c", Check("a")).ok(); }));
  EXPECT_TRUE(WaitUntil(
      [&] { return client.CheckItem("c", Check("a")).ok() && sidecar->CheckStreams() > 0; }));
}

TEST(TtlClientWithoutServerTest, NobodyListeningIsUnavailable) {
  const TempDir directory;
  TtlClientOptions options = DefaultOptions(absl::StrCat("unix:", directory.File("nobody.sock")));
  options.check_deadline = absl::Milliseconds(300);
  options.admin_deadline = absl::Milliseconds(300);
  TtlClient client(options);
  for (const absl::Status& status :
       {client.CheckItem("c", Check("a")).status(), client.operations().GetExpiryStatus().status(),
        client.containers().Create(v1::Container()).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), HasSubstr(options.address));
  }
}

TEST(TtlClientWithoutServerTest, WhatMayBeSentTwiceFailsWithTheReason) {
  const TempDir directory;
  TtlClientOptions options = DefaultOptions(absl::StrCat("unix:", directory.File("nobody.sock")));
  options.check_deadline = absl::Milliseconds(300);
  options.report_deadline = absl::Milliseconds(300);
  TtlClient client(options);
  for (const absl::Status& status :
       {client.GetItem("c", "", "a").status(), client.TrackItem("c", SequencedItem("a")).status(),
        client.TouchItem("c", Key("a")).status()}) {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kUnavailable, Not(HasSubstr("no connection within"))));
  }
  EXPECT_THAT(client.TrackItem("c", Item("a")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no connection within")));
}

TEST(TtlClientWithoutServerTest, WhatCannotWaitIsUnavailableAtOnce) {
  const TempDir directory;
  TtlClient client(DefaultOptions(absl::StrCat("unix:", directory.File("nobody.sock"))));
  const absl::Time begin = absl::Now();
  EXPECT_EQ(client.operations().IsServing("readiness").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(30));  // it would wait for a minute
}

TEST(TtlClientWithoutServerTest, ChangesWaitForTheSidecarAndAreSentOnce) {
  const TempDir directory;
  const std::string socket = directory.File("sidecar.sock");
  TtlClient client(DefaultOptions(absl::StrCat("unix:", socket)));
  std::optional<FakeSidecar> sidecar;
  std::thread later([&] {
    absl::SleepFor(absl::Milliseconds(300));  // meanwhile nothing can be sent
    sidecar.emplace(socket);
  });
  EXPECT_TRUE(client.containers().Create(v1::Container()).ok());
  later.join();
  EXPECT_EQ(sidecar->Calls("CreateContainer"), 1);
}

TEST_F(TtlClientTest, ListContainersJoinsThePages) {
  v1::ListContainersResponse page;
  page.add_containers()->set_id("a");
  page.set_next_page_token("next");
  sidecar_.Answer("ListContainers", page);
  page.mutable_containers(0)->set_id("b");
  page.clear_next_page_token();
  sidecar_.Answer("ListContainers", page);

  const auto containers = client_.containers().List();
  ASSERT_TRUE(containers.ok());
  ASSERT_THAT(*containers, SizeIs(2));
  EXPECT_EQ((*containers)[1].id(), "b");
  EXPECT_EQ(sidecar_.Requests<v1::ListContainersRequest>("ListContainers")[1].page_token(), "next");
}

TEST_F(TtlClientTest, ListContainersSendsItsFiltersForEachPage) {
  v1::ListContainersResponse page;
  page.set_next_page_token("next");
  sidecar_.Answer("ListContainers", page);
  v1::ListContainersRequest filters;
  filters.set_id_prefix("sales/");
  filters.set_ttl_on_only(true);
  filters.set_page_size(1);
  filters.set_page_token("not used");
  ASSERT_TRUE(client_.containers().List(filters).ok());
  const auto requests = sidecar_.Requests<v1::ListContainersRequest>("ListContainers");
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].page_token(), "");
  EXPECT_EQ(requests[1].page_token(), "next");
  for (const auto& request : requests) {
    EXPECT_EQ(request.id_prefix(), "sales/");
    EXPECT_TRUE(request.ttl_on_only());
    EXPECT_EQ(request.page_size(), 1000);
  }
}

TEST_F(TtlClientTest, PageThatLeadsToItselfIsAnError) {
  v1::ListExpiryStatusesResponse page;
  page.set_next_page_token("same");
  sidecar_.Answer("ListExpiryStatuses", page);
  sidecar_.Answer("ListExpiryStatuses", page);
  EXPECT_EQ(client_.operations().ListExpiryStatuses().status().code(), absl::StatusCode::kInternal);
}

TEST_F(TtlClientTest, UpdateSendsOnlyTheNamedFields) {
  v1::Container container;
  container.set_id("c");
  container.set_etag("e1");
  ASSERT_TRUE(client_.containers().Update(container, std::vector<std::string>{"default_ttl"}).ok());
  const auto request = sidecar_.Requests<v1::UpdateContainerRequest>("UpdateContainer").at(0);
  EXPECT_THAT(request.update_mask().paths(), ElementsAre("default_ttl"));
  EXPECT_FALSE(request.container().has_default_ttl());
  EXPECT_EQ(request.container().etag(), "e1");
}

TEST_F(TtlClientTest, ADeleteOrUpdateIsForcedOnlyIfTheRequestSaysSo) {
  ASSERT_TRUE(client_.containers().Delete("c", "etag").ok());
  v1::DeleteContainerRequest remove;
  remove.set_id("c");
  remove.set_force(true);
  ASSERT_TRUE(client_.containers().Delete(remove).ok());
  const auto deletes = sidecar_.Requests<v1::DeleteContainerRequest>("DeleteContainer");
  EXPECT_FALSE(deletes[0].force());
  EXPECT_TRUE(deletes[1].force());

  ASSERT_TRUE(client_.containers().Update(v1::Container(), {"indexing_mode"}).ok());
  v1::UpdateContainerRequest update;
  update.mutable_update_mask()->add_paths("indexing_mode");
  update.set_force(true);
  ASSERT_TRUE(client_.containers().Update(update).ok());
  const auto updates = sidecar_.Requests<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_FALSE(updates[0].force());
  EXPECT_TRUE(updates[1].force());
}

v1::PlaceHoldRequest HoldOf(const std::string& id) {
  v1::PlaceHoldRequest request;
  request.set_container("c");
  request.set_hold_id("audit");
  request.mutable_keys()->add_keys()->set_id(id);
  return request;
}

TEST_F(TtlClientTest, APlacedHoldIsRepeatedUntilItIsAnswered) {
  for (int i = 0; i < 5; ++i) sidecar_.Fail("PlaceHold", kUnavailable);
  const auto placed = client_.operations().PlaceHold(HoldOf("a"));
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_EQ(placed->hold().hold_id(), "audit");
  EXPECT_THAT(placed->results(), ElementsAre(v1::PLACE_HOLD_RESULT_HELD));
  const auto requests = sidecar_.Requests<v1::PlaceHoldRequest>("PlaceHold");
  ASSERT_THAT(requests, SizeIs(6));
  EXPECT_EQ(requests[5].SerializeAsString(), HoldOf("a").SerializeAsString());
}

TEST_F(TtlClientTest, AHoldThatIsRefusedIsNotRepeated) {
  sidecar_.Fail("PlaceHold", {grpc::StatusCode::RESOURCE_EXHAUSTED, "100000 holds"});
  EXPECT_EQ(client_.operations().PlaceHold(HoldOf("a")).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(sidecar_.Calls("PlaceHold"), 1);
}

// In between, somebody may have placed a hold of that name, or restored other data.
TEST_F(TtlClientTest, WhatEndsAHoldIsNotRepeated) {
  for (const char* method : {"ReleaseHold", "AcceptHolds"}) sidecar_.Fail(method, kUnavailable);
  EXPECT_EQ(client_.operations().ReleaseHold("c", "audit").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(client_.operations().AcceptHolds("c").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(sidecar_.Calls("ReleaseHold"), 1);
  EXPECT_EQ(sidecar_.Calls("AcceptHolds"), 1);
  const auto release = sidecar_.Requests<v1::ReleaseHoldRequest>("ReleaseHold")[0];
  EXPECT_EQ(release.container(), "c");
  EXPECT_EQ(release.hold_id(), "audit");
  EXPECT_EQ(sidecar_.Requests<v1::AcceptHoldsRequest>("AcceptHolds")[0].container(), "c");
}

TEST_F(TtlClientTest, ListHoldsJoinsThePagesOfOneContainerOrAll) {
  v1::ListHoldsResponse page;
  page.add_holds()->set_hold_id("a");
  page.set_next_page_token("next");
  sidecar_.Answer("ListHolds", page);
  page.mutable_holds(0)->set_hold_id("b");
  page.clear_next_page_token();
  sidecar_.Answer("ListHolds", page);

  const auto holds = client_.operations().ListHolds("c");
  ASSERT_TRUE(holds.ok());
  ASSERT_THAT(*holds, SizeIs(2));
  EXPECT_EQ((*holds)[1].hold_id(), "b");
  ASSERT_TRUE(client_.operations().ListHolds().ok());
  const auto requests = sidecar_.Requests<v1::ListHoldsRequest>("ListHolds");
  EXPECT_EQ(requests[1].container(), "c");
  EXPECT_EQ(requests[1].page_token(), "next");
  EXPECT_EQ(requests[2].container(), "");
}

TEST_F(TtlClientTest, HeldKeysAreListedPageByPage) {
  v1::ListHeldKeysResponse page;
  page.add_keys()->set_id("a");
  page.set_next_page_token("next");
  sidecar_.Answer("ListHeldKeys", page);
  v1::ListHeldKeysRequest request;
  request.set_container("c");
  request.set_hold_id("audit");
  request.set_page_token("before");
  const auto keys = client_.operations().ListHeldKeys(request);
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->SerializeAsString(), page.SerializeAsString());
  EXPECT_EQ(sidecar_.Requests<v1::ListHeldKeysRequest>("ListHeldKeys")[0].SerializeAsString(),
            request.SerializeAsString());
}

TEST_F(TtlClientTest, PausesNameOneContainerOrAll) {
  ASSERT_TRUE(client_.operations().PauseDeletes("c", "restore").ok());
  ASSERT_TRUE(client_.operations().PauseAllDeletes("restore").ok());
  const auto requests = sidecar_.Requests<v1::PauseDeletesRequest>("PauseDeletes");
  EXPECT_EQ(requests[0].container(), "c");
  EXPECT_EQ(requests[0].reason(), "restore");
  EXPECT_TRUE(requests[1].all_containers());
}

TEST_F(TtlClientTest, OneClientServesManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> answered(4);
  for (int& count : answered) {
    threads.emplace_back([this, &count] {
      for (int i = 0; i < 50; ++i) count += client_.CheckItem("c", Check("a")).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(answered, Each(50));
}

TEST_F(TtlClientTest, UsageIsReportedOnceASecond) {
  // In one, or in two if a report comes in between.
  client_.AddUsage("sales/orders", 2);
  client_.AddUsage("sales/orders", 3);
  const auto reports = [&] { return sidecar_.Requests<v1::ReportUsageRequest>("ReportUsage"); };
  const auto units = [&] {
    double sum = 0;
    for (const auto& report : reports()) sum += report.request_units();
    return sum;
  };
  ASSERT_TRUE(WaitUntil([&] { return units() == 5 && reports().back().request_units() == 0; }));
  const std::string reporter = reports()[0].reporter();
  EXPECT_NE(reporter, "");
  for (const auto& report : reports()) {
    EXPECT_EQ(report.container(), "sales/orders");
    EXPECT_GE(report.period().seconds(), 1);
    EXPECT_EQ(report.reporter(), reporter);
  }
}

TEST_F(TtlClientTest, UsageIsNotReportedIfThatIsSwitchedOff) {
  TtlClientOptions options = Options(sidecar_.address());
  options.report_usage = false;
  TtlClient silent(options);
  silent.AddUsage("silent", 2);
  client_.AddUsage("loud", 2);
  ASSERT_TRUE(WaitUntil([&] { return sidecar_.Calls("ReportUsage") >= 2; }));
  for (const auto& report : sidecar_.Requests<v1::ReportUsageRequest>("ReportUsage")) {
    EXPECT_EQ(report.container(), "loud");
  }
}

TEST_F(TtlClientTest, AClientThatIsDestroyedWaitsForNoMoreThanOneReport) {
  TtlClientOptions options = Options(sidecar_.address());
  options.check_deadline = absl::Milliseconds(100);
  std::optional<TtlClient> client(std::in_place, options);
  sidecar_.Hang("ReportUsage");
  client->AddUsage("c", 2);
  ASSERT_TRUE(WaitUntil([&] { return sidecar_.Calls("ReportUsage") >= 1; }));
  client.reset();
}

TEST_F(TtlClientTest, PreviewAsksForValidationOnly) {
  v1::UpdateContainerResponse response;
  response.mutable_preview()->set_newly_due_items(7);
  sidecar_.Answer("UpdateContainer", response);
  v1::Container container;
  container.set_id("c");
  const std::vector<std::string> mask = {"default_ttl"};
  EXPECT_EQ(client_.containers().PreviewUpdate(container, mask)->preview().newly_due_items(), 7);
  ASSERT_TRUE(client_.containers().Update(container, mask).ok());
  const auto requests = sidecar_.Requests<v1::UpdateContainerRequest>("UpdateContainer");
  EXPECT_TRUE(requests[0].validate_only());
  EXPECT_FALSE(requests[1].validate_only());
}

TEST_F(TtlClientTest, TheLimitThatIsInForceIsAnswered) {
  v1::SetMaxDeletesPerSecondResponse five;
  five.set_max_deletes_per_second(5);
  sidecar_.Answer("SetMaxDeletesPerSecond", five);
  EXPECT_EQ(client_.operations().SetMaxDeletesPerSecond(5).value(), 5);
  EXPECT_EQ(client_.operations().SetUnlimitedDeletes().value(), std::nullopt);
  sidecar_.Answer("SetMaxDeletesPerSecond", five);
  EXPECT_EQ(client_.operations().ResetMaxDeletesPerSecond().value(), 5);
  const auto requests =
      sidecar_.Requests<v1::SetMaxDeletesPerSecondRequest>("SetMaxDeletesPerSecond");
  EXPECT_EQ(requests[0].max_deletes_per_second(), 5);
  EXPECT_TRUE(requests[1].unlimited());
  EXPECT_TRUE(requests[2].server_default());
}

}  // namespace
}  // namespace ttl
