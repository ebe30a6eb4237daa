// ttlctl watch, ttlctl subscriptions, and the settings of containers for the feed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/ttlctl/input/container_change.h"
#include "client/ttlctl/text/container_status_text.h"
#include "client/ttlctl/text/container_text.h"
#include "client/ttlctl/text/feed/event_text.h"
#include "client/ttlctl/text/feed/feed_text.h"
#include "client/ttlctl/text/yaml/containers_file.h"
#include "client/ttlctl/ttlctl.h"
#include "nlohmann/json.hpp"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/reason_status.h"
#include "tests/testing/rpc_proto.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/feed_service.pb.h"

namespace ttl {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const grpc::Status kUnreachable(grpc::StatusCode::UNAVAILABLE, "gone");

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

v1::WatchEventsResponse Expired(std::vector<uint64_t> sequences) {
  v1::WatchEventsResponse response;
  response.set_token("t");
  response.set_epoch(7);
  for (const uint64_t sequence : sequences) {
    *response.add_events() = Proto<v1::Event>(absl::StrCat(
        "kind: EVENT_KIND_EXPIRED container: 'c' id: 'cart' ts: 1800000000 expire_time: 1800000060 "
        "event_time { seconds: 1800000060 } sequence: ",
        sequence));
  }
  return response;
}

class TtlctlFeedTest : public testing::Test {
 protected:
  Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"--server", sidecar_.address(), "--timeout-seconds", "60"});
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = RunTtlctl(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }

  std::vector<std::string> Acknowledged() const {
    std::vector<std::string> all;
    for (const auto& request : sidecar_.Requests<v1::AcknowledgeRequest>("Acknowledge")) {
      all.push_back(absl::StrCat(request.container(), " ", request.name(), " ", request.epoch(),
                                 " ", request.sequence()));
    }
    return all;
  }

  std::vector<std::string> Watched() const {
    std::vector<std::string> all;
    for (const auto& request : sidecar_.Requests<v1::WatchEventsRequest>("WatchEvents")) {
      all.push_back(request.ShortDebugString());
    }
    return all;
  }

  FakeSidecar sidecar_;
};

// watch

TEST_F(TtlctlFeedTest, WatchPrintsALinePerEventUntilItHasPrintedTheCount) {
  sidecar_.Answer("WatchEvents", Expired({}));
  sidecar_.Answer("WatchEvents", Expired({5}));
  sidecar_.Answer("WatchEvents", Expired({6, 7}));
  const Outcome outcome = Run({"watch", "c", "d", "--count", "2", "--kinds", "expired,purged"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "5  2027-01-15T08:01:00Z  expired  c  cart  written 2027-01-15T08:00:00Z, "
            "expired 2027-01-15T08:01:00Z\n"
            "6  2027-01-15T08:01:00Z  expired  c  cart  written 2027-01-15T08:00:00Z, "
            "expired 2027-01-15T08:01:00Z\n");
  EXPECT_THAT(Watched(),
              ElementsAre("containers { ids: \"c\" ids: \"d\" kinds: EVENT_KIND_EXPIRED kinds: "
                          "EVENT_KIND_PURGED }"));
  EXPECT_THAT(Acknowledged(), IsEmpty());
}

TEST_F(TtlctlFeedTest, WatchPrintsJsonAnEventPerLine) {
  sidecar_.Answer("WatchEvents", Expired({5, 6}));
  const Outcome outcome = Run({"-o", "json", "watch", "c", "--count", "2"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  const std::vector<std::string> lines = absl::StrSplit(outcome.out, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(json::parse(lines[1])["sequence"], "6");
  EXPECT_EQ(json::parse(lines[1])["kind"], "EVENT_KIND_EXPIRED");
}

TEST_F(TtlctlFeedTest, WatchWithoutAContainerWatchesAllThatHaveAFeed) {
  v1::ListContainersResponse containers;
  containers.add_containers()->set_id("a");
  containers.mutable_containers(0)->mutable_feed();
  containers.add_containers()->set_id("b");
  sidecar_.Answer("ListContainers", containers);
  sidecar_.Answer("WatchEvents", Expired({5}));
  EXPECT_EQ(Run({"watch", "--count", "1"}).code, ExitCode::kOk);
  EXPECT_THAT(Watched(), ElementsAre("containers { ids: \"a\" }"));

  const Outcome none = Run({"watch"});
  EXPECT_EQ(none.code, ExitCode::kNotFound);
  EXPECT_THAT(none.err, HasSubstr("containers set --feed on CONTAINER"));
}

TEST_F(TtlctlFeedTest, WatchAcknowledgesWhatItHasPrinted) {
  sidecar_.Answer("WatchEvents", Expired({5, 6}));
  sidecar_.Answer("WatchEvents", Expired({}));
  sidecar_.Answer("WatchEvents", Expired({7, 9}));
  const Outcome outcome = Run({"watch", "c", "--subscription", "s", "--ack", "--count", "3"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(Watched(), ElementsAre("subscription { container: \"c\" name: \"s\" }"));
  EXPECT_THAT(Acknowledged(), ElementsAre("c s 7 6", "c s 7 7"));
}

TEST_F(TtlctlFeedTest, WatchAcknowledgesNothingUnlessItIsAnnounced) {
  sidecar_.Answer("WatchEvents", Expired({5}));
  EXPECT_EQ(Run({"watch", "c", "--subscription", "s", "--count", "1"}).code, ExitCode::kOk);
  EXPECT_THAT(Acknowledged(), IsEmpty());
}

TEST_F(TtlctlFeedTest, WatchAcknowledgesNothingThatCouldNotBeWritten) {
  sidecar_.Answer("WatchEvents", Expired({5}));
  std::istringstream in;
  std::ostream out(nullptr);
  std::ostringstream err;
  EXPECT_EQ(RunTtlctl({"--server", sidecar_.address(), "watch", "c", "--subscription", "s", "--ack",
                       "--count", "1"},
                      {in, out, err}),
            ExitCode::kRefused);
  EXPECT_THAT(err.str(), HasSubstr("could not be written"));
  EXPECT_THAT(Acknowledged(), IsEmpty());
}

TEST_F(TtlctlFeedTest, WatchGoesOnWhereAnAcknowledgementComesAgain) {
  sidecar_.Answer("WatchEvents", Expired({5}));
  sidecar_.Fail("Acknowledge", RefusalFor("SEQUENCE_NOT_SENT", grpc::StatusCode::OUT_OF_RANGE));
  sidecar_.Fail("WatchEvents", kUnreachable);
  sidecar_.Answer("WatchEvents", Expired({5}));
  const Outcome outcome = Run({"watch", "c", "--subscription", "s", "--ack", "--count", "2"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the stream broke and is opened again: "));
  EXPECT_THAT(Acknowledged(), ElementsAre("c s 7 5", "c s 7 5"));
}

TEST_F(TtlctlFeedTest, WatchEndsWhereItMayNotAcknowledge) {
  sidecar_.Answer("WatchEvents", Expired({5}));
  sidecar_.Fail("Acknowledge", {grpc::StatusCode::PERMISSION_DENIED, "not the consumer"});
  const Outcome outcome = Run({"watch", "c", "--subscription", "s", "--ack"});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, HasSubstr("not the consumer"));
}

TEST_F(TtlctlFeedTest, WatchFailsWhereTheLastAcknowledgementIsNotTaken) {
  sidecar_.Answer("WatchEvents", Expired({5}));
  sidecar_.Fail("Acknowledge", RefusalFor("SEQUENCE_NOT_SENT", grpc::StatusCode::OUT_OF_RANGE));
  const Outcome outcome = Run({"watch", "c", "--subscription", "s", "--ack", "--count", "1"});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.err, HasSubstr("refused"));
}

TEST_F(TtlctlFeedTest, WatchEndsWithWhatTheSidecarSaysToDo) {
  sidecar_.Answer("WatchEvents", Expired({5}));
  sidecar_.Fail("WatchEvents", {grpc::StatusCode::OUT_OF_RANGE, "compare with the store"});
  const Outcome outcome = Run({"watch", "c"});
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_THAT(outcome.out, HasSubstr("expired  c"));
  EXPECT_THAT(outcome.err, HasSubstr("compare with the store"));
}

TEST_F(TtlctlFeedTest, WatchSaysWhenExpiriesStandStill) {
  v1::WatchEventsResponse still = Expired({});
  still.set_stall_reason("the clock is suspect");
  sidecar_.Answer("WatchEvents", still);
  sidecar_.Answer("WatchEvents", still);
  sidecar_.Answer("WatchEvents", Expired({5}));
  const Outcome outcome = Run({"watch", "c", "--count", "1"});
  EXPECT_EQ(outcome.err, "ttlctl: no expiries are logged now: the clock is suspect\n");
}

TEST_F(TtlctlFeedTest, WatchOfASidecarThatIsAwayFails) {
  FakeSidecar gone("");
  const std::string address = absl::StrCat(gone.address(), "-nobody");
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunTtlctl({"--server", address, "watch", "c"}, {in, out, err}), ExitCode::kUnreachable);
}

TEST_F(TtlctlFeedTest, WatchRefusesOptionsThatContradict) {
  const std::vector<std::vector<std::string>> wrong = {
      {"watch", "c", "--ack"},
      {"watch", "--subscription", "s"},
      {"watch", "c", "d", "--subscription", "s"},
      {"watch", "c", "--subscription", "s", "--kinds", "expired"},
      {"watch", "c", "--kinds", "expird"},
      {"watch", "c", "--count", "0"}};
  for (const auto& arguments : wrong) {
    EXPECT_EQ(Run(arguments).code, ExitCode::kUsage) << arguments.back();
  }
  EXPECT_THAT(Run({"watch", "c", "--kinds", "gone,expird"}).err,
              AllOf(HasSubstr("\"expird\""), HasSubstr("did you mean")));
  EXPECT_EQ(sidecar_.Calls("WatchEvents"), 0);
}

// subscriptions

TEST_F(TtlctlFeedTest, SubscriptionsCreateSendsWhatIsGiven) {
  const auto created = Proto<v1::CreateSubscriptionResponse>(
      "subscription { container: 'c' name: 's' kinds: EVENT_KIND_GONE consumer: 'cn:a' }");
  sidecar_.Answer("CreateSubscription", created);
  const Outcome outcome =
      Run({"subscriptions", "create", "c", "s", "--kinds", "gone", "--consumer", "cn:a"});
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("subscription  s\n"), HasSubstr("gone")));
  const auto request = sidecar_.Requests<v1::CreateSubscriptionRequest>("CreateSubscription")[0];
  EXPECT_EQ(request.subscription().DebugString(), created.subscription().DebugString());
}

TEST_F(TtlctlFeedTest, SubscriptionsCreateMakesAGate) {
  const struct {
    std::vector<std::string> options;
    const char* settings;
    const char* shown;
  } kCases[] = {
      {{"--gate"},
       "gate: true",
       "gate          each item is deleted only after its expiry was "
       "acknowledged\n"},
      {{"--give-up-after", "7d", "--gate"},
       "gate: true give_up_after { seconds: 604800 }",
       "acknowledged\n              or it has waited for 7d while the sidecar ran\n"},
  };
  for (const auto& test : kCases) {
    const auto expected =
        Proto<v1::Subscription>(absl::StrCat("container: 'c' name: 's' ", test.settings));
    v1::CreateSubscriptionResponse created;
    *created.mutable_subscription() = expected;
    sidecar_.Answer("CreateSubscription", created);
    std::vector<std::string> arguments = {"subscriptions", "create", "c", "s"};
    arguments.insert(arguments.end(), test.options.begin(), test.options.end());
    EXPECT_THAT(Run(arguments).out, HasSubstr(test.shown));
    const auto sent = sidecar_.Requests<v1::CreateSubscriptionRequest>("CreateSubscription").back();
    EXPECT_EQ(sent.subscription().DebugString(), expected.DebugString());
  }
}

TEST_F(TtlctlFeedTest, OnlyAGateIsGivenUp) {
  const Outcome outcome = Run({"subscriptions", "create", "c", "s", "--give-up-after", "7d"});
  EXPECT_EQ(outcome.code, ExitCode::kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("--gate"));
  EXPECT_EQ(Run({"subscriptions", "create", "c", "s", "--gate", "--give-up-after", "soon"}).code,
            ExitCode::kUsage);
  EXPECT_EQ(sidecar_.Calls("CreateSubscription"), 0);
}

TEST_F(TtlctlFeedTest, SubscriptionsGetShowsHowFarItIs) {
  sidecar_.Answer("GetSubscription",
                  Proto<v1::GetSubscriptionResponse>(
                      "subscription { container: 'c d' name: 's' acknowledged_sequence: 5 "
                      "last_sequence: 9 streams: 1 has_lost_events: true epoch: 77 "
                      "oldest_unacknowledged_time { seconds: 1800000000 } }"));
  EXPECT_THAT(Run({"subscriptions", "get", "c d", "s"}).out,
              AllOf(HasSubstr("acknowledged  sequence 5"), HasSubstr("sequence 9"),
                    HasSubstr("2027-01-15T08:00:00Z"), HasSubstr("any with the role"),
                    HasSubstr("77"), HasSubstr("subscriptions acknowledge 'c d' s")));
  sidecar_.Answer("GetSubscription", Proto<v1::GetSubscriptionResponse>(
                                         "subscription { gate: true has_lost_events: true }"));
  EXPECT_THAT(Run({"subscriptions", "get", "c", "s"}).out,
              AllOf(HasSubstr("EVENTS WERE DROPPED"), HasSubstr("announced again before"),
                    Not(HasSubstr("subscriptions acknowledge"))));
  sidecar_.Fail("GetSubscription", {grpc::StatusCode::NOT_FOUND, "no subscription"});
  EXPECT_EQ(Run({"subscriptions", "get", "c", "s"}).code, ExitCode::kNotFound);
}

TEST_F(TtlctlFeedTest, SubscriptionsListShowsOneContainerOrAll) {
  v1::ListSubscriptionsResponse page;
  *page.add_subscriptions() =
      Proto<v1::Subscription>("container: 'c' name: 's' acknowledged_sequence: 5 last_sequence: 9");
  for (int i = 0; i < 2; ++i) sidecar_.Answer("ListSubscriptions", page);
  EXPECT_THAT(Run({"subscriptions", "list", "c"}).out,
              AllOf(HasSubstr("c / s"), HasSubstr("5"), HasSubstr("9")));
  EXPECT_EQ(json::parse(Run({"-o", "json", "subscriptions", "list"}).out)["name"], "s");
  EXPECT_EQ(Run({"subscriptions", "list"}).out, "no subscriptions\n");
  const auto requests = sidecar_.Requests<v1::ListSubscriptionsRequest>("ListSubscriptions");
  EXPECT_EQ(requests[0].container(), "c");
  EXPECT_EQ(requests[1].container(), "");
}

TEST_F(TtlctlFeedTest, SubscriptionsListShowsGates) {
  v1::ListSubscriptionsResponse page;
  for (const char* gate :
       {"", "gate: true", "gate: true give_up_after { seconds: 604800 } given_up_sequence: 5"}) {
    *page.add_subscriptions() =
        Proto<v1::Subscription>(absl::StrCat("container: 'c' name: 's' ", gate));
  }
  sidecar_.Answer("ListSubscriptions", page);
  EXPECT_EQ(Run({"subscriptions", "list"}).out,
            "CONTAINER / SUBSCRIPTION  ACKNOWLEDGED  LAST  STREAMS  GATE  OLDEST TO DO\n"
            "c / s                     0             0     0        -     none\n"
            "c / s                     0             0     0        yes   none\n"
            "c / s                     0             0     0        7d    none; GIVEN UP\n");
}

TEST_F(TtlctlFeedTest, SubscriptionsDeleteNamesItAndIsSentOnce) {
  EXPECT_THAT(Run({"subscriptions", "delete", "c", "s"}).out,
              HasSubstr("deleted subscription s of container c"));
  const auto request = sidecar_.Requests<v1::DeleteSubscriptionRequest>("DeleteSubscription")[0];
  EXPECT_EQ(request.container(), "c");
  EXPECT_EQ(request.name(), "s");
  sidecar_.Fail("DeleteSubscription", kUnreachable);
  EXPECT_EQ(Run({"subscriptions", "delete", "c", "s"}).code, ExitCode::kUnreachable);
  EXPECT_EQ(sidecar_.Calls("DeleteSubscription"), 2);
}

TEST_F(TtlctlFeedTest, SubscriptionsAcknowledgeIsOfThePresentLogOrOfTheOneGiven) {
  v1::GetSubscriptionResponse present;
  present.mutable_subscription()->set_epoch(UINT64_MAX);
  sidecar_.Answer("GetSubscription", present);
  EXPECT_THAT(Run({"subscriptions", "acknowledge", "c", "s", "42"}).out, HasSubstr("sequence 42"));
  EXPECT_EQ(Run({"subscriptions", "acknowledge", "c", "s", "43", "--epoch", "7"}).code,
            ExitCode::kOk);
  EXPECT_THAT(Acknowledged(), ElementsAre(absl::StrCat("c s ", UINT64_MAX, " 42"), "c s 7 43"));
  EXPECT_EQ(sidecar_.Calls("GetSubscription"), 1);
  EXPECT_EQ(Run({"subscriptions", "acknowledge", "c", "s", "x"}).code, ExitCode::kUsage);
  EXPECT_EQ(Run({"subscriptions", "acknowledge", "c", "s"}).code, ExitCode::kUsage);
}

// containers

TEST_F(TtlctlFeedTest, ContainersCreateAndSetSendTheSettingsOfTheFeed) {
  const struct {
    std::vector<std::string> options;
    const char* paths;
    const char* container;
  } kCases[] = {
      {{"--feed", "on"}, "feed", "feed { }"},
      {{"--feed", "off"}, "feed", ""},
      {{"--feed-max-age", "2h"}, "feed.max_age", "feed { max_age { seconds: 7200 } }"},
      {{"--feed-max-age", "default"}, "feed.max_age", "feed { }"},
      {{"--feed-max-bytes", "1048576"}, "feed.max_bytes", "feed { max_bytes: 1048576 }"},
      {{"--feed-max-bytes", "default"}, "feed.max_bytes", "feed { }"},
      {{"--feed-notice", "10m"}, "feed.notice", "feed { notice { seconds: 600 } }"},
      {{"--feed-notice", "none"}, "feed.notice", "feed { }"},
      {{"--feed-notice", "1m", "--feed", "on"},
       "feed,feed.notice",
       "feed { notice { seconds: 60 } }"},
  };
  for (const auto& test : kCases) {
    std::vector<std::string> arguments = {"containers", "set", "c"};
    arguments.insert(arguments.end(), test.options.begin(), test.options.end());
    EXPECT_EQ(Run(arguments).code, ExitCode::kOk) << test.paths;
    const auto update = sidecar_.Requests<v1::UpdateContainerRequest>("UpdateContainer").back();
    EXPECT_EQ(absl::StrJoin(update.update_mask().paths(), ","), test.paths);
    const std::string expected =
        Proto<v1::Container>(absl::StrCat("id: 'c' ", test.container)).DebugString();
    EXPECT_EQ(update.container().DebugString(), expected);
    arguments[1] = "create";
    EXPECT_EQ(Run(arguments).code, ExitCode::kOk) << test.paths;
    const auto create = sidecar_.Requests<v1::CreateContainerRequest>("CreateContainer").back();
    EXPECT_EQ(create.container().DebugString(), expected);
  }
}

TEST_F(TtlctlFeedTest, ContainersSetRefusesSettingsOfAFeedThatIsRemoved) {
  EXPECT_THAT(Run({"containers", "set", "c", "--feed", "off", "--feed-notice", "1m"}).err,
              AllOf(HasSubstr("--feed-notice"), HasSubstr("--feed off")));
  EXPECT_EQ(Run({"containers", "set", "c", "--feed-max-bytes", "1G"}).code, ExitCode::kUsage);
  EXPECT_EQ(sidecar_.Calls("UpdateContainer"), 0);
}

TEST_F(TtlctlFeedTest, ARefusalBecauseOfSubscriptionsSaysWhatToDo) {
  for (const char* method : {"UpdateContainer", "DeleteContainer"}) {
    sidecar_.Fail(method, RefusalFor("SUBSCRIPTIONS_EXIST"));
  }
  const char* const kExpected =
      "ttlctl: refused (ttlctl subscriptions list c shows them; --force overrides them)\n";
  EXPECT_EQ(Run({"containers", "set", "c", "--feed", "off"}).err, kExpected);
  EXPECT_EQ(Run({"containers", "delete", "c", "--yes"}).err, kExpected);
}

TEST(FeedTextTest, AContainerShowsItsFeed) {
  v1::Container container;
  EXPECT_THAT(ContainerText(container), Not(HasSubstr("feed")));
  container.mutable_feed();
  EXPECT_THAT(ContainerText(container),
              HasSubstr("feed         events are kept for 1d and up to 1,073,741,824 bytes\n"));
  container.set_has_holds(true);
  EXPECT_THAT(ContainerText(container), HasSubstr("or gates: ttlctl subscriptions list ''\n"));
  container.mutable_feed()->mutable_max_age()->set_seconds(7200);
  container.mutable_feed()->set_max_bytes(1048576);
  container.mutable_feed()->mutable_notice()->set_seconds(600);
  EXPECT_THAT(ContainerText(container),
              HasSubstr("kept for 2h and up to 1,048,576 bytes; notice 10m before the expiry\n"));
}

TEST(FeedTextTest, ContainersDifferInTheirFeed) {
  const auto changes = [](const char* from, const char* to) {
    return ChangesText(Differences(Proto<v1::Container>(from), Proto<v1::Container>(to)));
  };
  const char* const kOn = "feed { max_age { seconds: 86400 } max_bytes: 1073741824 }";
  EXPECT_EQ(changes("feed { }", kOn), "");
  EXPECT_EQ(changes("", "feed { notice { seconds: 60 } }"),
            "feed off -> {max age 86400s, max bytes 1073741824, notice 60s}");
  EXPECT_THAT(changes(kOn, ""), EndsWith("-> off"));
}

TEST(FeedTextTest, AnExportHasTheFeed) {
  const auto exported = [](const char* container) {
    return ContainersFile({Proto<v1::Container>(container)})["containers"][0].dump();
  };
  EXPECT_EQ(exported("id: 'c'"), R"({"id":"c"})");
  EXPECT_EQ(exported("id: 'c' feed { }"), R"({"id":"c","feed":{}})");
  EXPECT_EQ(exported("id: 'c' feed { max_age { seconds: 60 } max_bytes: 1048576 "
                     "notice { seconds: 5 } }"),
            R"({"id":"c","feed":{"max_age_seconds":60,"max_bytes":1048576,"notice_seconds":5}})");
}

TEST(FeedTextTest, AStatusShowsTheFeedAndItsSubscriptions) {
  const std::string text = FeedStatusText(Proto<v1::FeedStatus>(
      "events: 30 bytes: 2000 is_lower_bound: true last_sequence: 42 expired_items: 3 "
      "oldest_event_time { seconds: 1800000000 } watermark { seconds: 1800000060 } "
      "subscriptions { name: 'a' unacknowledged_events: 10000 is_lower_bound: true streams: 1 } "
      "subscriptions { name: 'b' has_lost_events: true "
      "oldest_unacknowledged_time { seconds: 1800000000 } }"));
  EXPECT_EQ(
      text,
      "all expiries up to 2027-01-15T08:01:00Z were announced\n"
      "at least 30 events of 2,000 bytes, last sequence 42; announced as expired and still stored: "
      "3\n"
      "oldest event of 2027-01-15T08:00:00Z\n"
      "a: at least 10,000 events to acknowledge, 1 stream\n"
      "b: 0 events to acknowledge, the oldest of 2027-01-15T08:00:00Z, 0 streams; EVENTS WERE "
      "DROPPED");
  EXPECT_THAT(FeedStatusText(Proto<v1::FeedStatus>("stall_reason: 'the clock is suspect'")),
              HasSubstr("no expiries are logged now: the clock is suspect"));
  EXPECT_THAT(FeedStatusText(v1::FeedStatus()), HasSubstr("not known yet"));
}

TEST(FeedTextTest, AStatusShowsGatesAndWhatWasGivenUp) {
  EXPECT_THAT(FeedStatusText(Proto<v1::FeedStatus>(
                  "subscriptions { name: 'a' gate: true unacknowledged_events: 3 streams: 1 "
                  "given_up_sequence: 5 }")),
              EndsWith("\na (gate): 3 events to acknowledge, 1 stream; ITEMS UP TO SEQUENCE 5 NO "
                       "LONGER WAIT FOR IT"));
  const auto gate = [](const char* sequences) {
    return SubscriptionText(Proto<v1::Subscription>(absl::StrCat("gate: true ", sequences)));
  };
  EXPECT_THAT(gate("given_up_sequence: 5 acknowledged_sequence: 4"),
              HasSubstr("\n              ITEMS UP TO SEQUENCE 5 NO LONGER WAIT FOR IT\n"));
  EXPECT_THAT(gate("given_up_sequence: 5 acknowledged_sequence: 5"), Not(HasSubstr("NO LONGER")));
}

TEST(FeedTextTest, TheStatusOfAContainerSaysWhoItsItemsWaitFor) {
  v1::ContainerExpiryStatus status;
  status.set_container("c d");
  status.add_holds(v1::DELETE_HOLD_GATE);
  EXPECT_THAT(
      ContainerStatusText(status),
      AllOf(HasSubstr("held back by  items wait for a subscription\n"), Not(HasSubstr("gates"))));
  *status.mutable_feed() =
      Proto<v1::FeedStatus>("gated_items: 1234 waiting_for: 'archive' waiting_for: 'audit\\nlog'");
  EXPECT_THAT(ContainerStatusText(status),
              HasSubstr("gates         1,234 due items wait for archive, audit\\x0alog to "
                        "acknowledge\n"
                        "              ttlctl subscriptions list 'c d' shows how far they are\n"));
  *status.mutable_feed() = Proto<v1::FeedStatus>("is_full: true");
  EXPECT_THAT(ContainerStatusText(status),
              AllOf(HasSubstr("gates         THE LOG IS FULL: no further expiry is announced"),
                    HasSubstr("ttlctl subscriptions list 'c d'"), Not(HasSubstr("due items"))));
}

TEST(FeedTextTest, EachKindOfEventHasItsParticulars) {
  const auto text = [](const std::string& fields) {
    const std::string line = EventText(Proto<v1::Event>(
        absl::StrCat("sequence: 9 container: 'c' event_time { seconds: 1800000000 } ", fields)));
    EXPECT_THAT(line, testing::StartsWith("9  2027-01-15T08:00:00Z  "));
    return line.substr(25);
  };
  const std::string item = " partition_key: 'p' id: 'a' ts: 1800000000 ";
  EXPECT_EQ(text("kind: EVENT_KIND_PURGED expired_sequence: 8 lateness { seconds: 5 } "
                 "superseded: true" +
                 item),
            "purged  c  p / a  written 2027-01-15T08:00:00Z; 5s late; ends 8; superseded\n");
  EXPECT_EQ(text("kind: EVENT_KIND_PURGED expired_sequence: 8 given_up_subscriptions: 'archive' "
                 "given_up_subscriptions: 'audit'" +
                 item),
            "purged  c  p / a  written 2027-01-15T08:00:00Z; ends 8; NOT ACKNOWLEDGED by archive, "
            "audit\n");
  EXPECT_EQ(text("kind: EVENT_KIND_GONE expired_sequence: 8 late: true" + item),
            "gone  c  p / a  written 2027-01-15T08:00:00Z; ends 8; announced late\n");
  EXPECT_EQ(text("kind: EVENT_KIND_REVIVED expired_sequence: 8" + item),
            "revived  c  p / a  written 2027-01-15T08:00:00Z, never expires; ends 8\n");
  EXPECT_EQ(text("kind: EVENT_KIND_EXPIRING expire_time: 1800000060" + item),
            "expiring  c  p / a  written 2027-01-15T08:00:00Z, expires 2027-01-15T08:01:00Z\n");
  EXPECT_EQ(text("kind: EVENT_KIND_REPLACED new_ts: 1800000060 expired_sequence: 8" + item),
            "replaced  c  p / a  written 2027-01-15T08:00:00Z; replaced by that of "
            "2027-01-15T08:01:00Z; ends 8\n");
  EXPECT_EQ(text("kind: EVENT_KIND_POLICY_CHANGED default_ttl: 60"),
            "policy_changed  c  default_ttl off -> 60\n");
  EXPECT_EQ(text("kind: EVENT_KIND_RESYNC"), "resync  c  events may be missing before\n");
  v1::Event newer;
  newer.set_kind(static_cast<v1::EventKind>(99));
  EXPECT_THAT(EventText(newer), HasSubstr("kind 99 (newer than this ttlctl)"));
}

TEST(FeedTextTest, EachKindHasAWordThatNamesIt) {
  for (int kind = v1::EventKind_MIN + 1; kind <= v1::EventKind_MAX; ++kind) {
    const auto one = static_cast<v1::EventKind>(kind);
    EXPECT_EQ(EventKindOf(EventKindText(one)), one);
    EXPECT_THAT(std::string(kEventKindWords), HasSubstr(EventKindText(one)));
  }
}

}  // namespace
}  // namespace ttl
