#include "service/rpc/mapping/feed_mapping.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::StatusOr<WatchRequest> Watch(const std::string& text) {
  return ReadWatchRequest(Proto<v1::WatchEventsRequest>(text));
}

absl::StatusOr<Subscription> Subscribe(const std::string& text) {
  return ReadSubscription(
      Proto<v1::CreateSubscriptionRequest>(absl::StrCat("subscription { ", text, " }")));
}

TEST(ReadWatchRequestTest, ContainersComeWithTheirTokenAndKinds) {
  const auto watch = Watch(
      "containers { ids: 'b' ids: 'a' token: 't' kinds: EVENT_KIND_PURGED "
      "kinds: EVENT_KIND_EXPIRED kinds: EVENT_KIND_PURGED } heartbeat_interval { seconds: 5 }");
  ASSERT_THAT(watch, IsOk());
  EXPECT_THAT(watch->containers, ElementsAre("b", "a"));
  EXPECT_EQ(watch->subscription, "");
  EXPECT_EQ(watch->token, "t");
  EXPECT_THAT(watch->kinds, ElementsAre(EventKind::kExpired, EventKind::kPurged));
  EXPECT_EQ(watch->heartbeat, absl::Seconds(5));
}

TEST(ReadWatchRequestTest, ASubscriptionHasOneContainer) {
  const auto watch = Watch("subscription { container: 'c' name: 's' }");
  ASSERT_THAT(watch, IsOk());
  EXPECT_THAT(watch->containers, ElementsAre("c"));
  EXPECT_EQ(watch->subscription, "s");
  EXPECT_THAT(watch->kinds, IsEmpty());
  EXPECT_EQ(watch->heartbeat, absl::Seconds(1));
}

TEST(ReadWatchRequestTest, WhatIsWrongIsNamed) {
  std::string many = "containers {";
  for (int i = 0; i <= 100; ++i) absl::StrAppend(&many, " ids: 'c", i, "'");
  const struct {
    std::string request;
    std::string message;
  } kCases[] = {
      {"", "source is absent"},
      {"containers {}", "containers.ids has 0 entries: must have 1 to 100"},
      {many + " }", "containers.ids has 101 entries"},
      {"containers { ids: 'a' ids: 'b' ids: 'a' }", "containers.ids has \"a\" twice"},
      {"containers { ids: 'a' kinds: EVENT_KIND_EXPIRED kinds: EVENT_KIND_UNSPECIFIED }",
       "containers.kinds[1] is 0: must be one of EXPIRED, PURGED"},
      {"subscription { container: 'c' }", "subscription.name is \"\" (0 bytes)"},
      {"subscription { container: 'c' name: 'a\\nb' }", "subscription.name is \"a\\nb\""},
      {"containers { ids: 'a' } heartbeat_interval { nanos: 99999999 }",
       "heartbeat_interval is 99.999999ms: must be 100ms to 1m"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Watch(c.request), IsInvalid(c.message)) << c.request;
  }
}

TEST(ReadWatchRequestTest, AKindOfALaterVersionIsRefused) {
  v1::WatchEventsRequest request;
  request.mutable_containers()->add_ids("c");
  request.mutable_containers()->add_kinds(static_cast<v1::EventKind>(1000));
  EXPECT_THAT(ReadWatchRequest(request), IsInvalid("containers.kinds[0] is 1000"));
}

TEST(ReadSubscriptionTest, NameKindsAndConsumerAreRead) {
  const auto subscription = Subscribe(
      "container: 'c' name: 's' kinds: EVENT_KIND_EXPIRING consumer: 'cn:shipping' "
      "acknowledged_sequence: 9 create_time { seconds: 9 }");
  ASSERT_THAT(subscription, IsOk());
  Subscription want;
  want.name = "s";
  want.kinds = {EventKind::kExpiring};
  want.consumer = "cn:shipping";
  EXPECT_EQ(*subscription, want);
  EXPECT_EQ(Describe(*subscription), "{kinds=EXPIRING consumer=\"cn:shipping\"}");
  EXPECT_EQ(Describe(Subscribe("name: 's'").value()), "{kinds=all consumer=\"\"}");
}

TEST(ReadSubscriptionTest, AGateIsRead) {
  const auto patient = Subscribe("name: 's' gate: true kinds: EVENT_KIND_EXPIRED");
  ASSERT_THAT(patient, IsOk());
  EXPECT_TRUE(patient->gate);
  EXPECT_EQ(patient->give_up_after_seconds, 0);
  EXPECT_EQ(Describe(*patient), "{kinds=EXPIRED consumer=\"\" gate=true give_up_after=never}");
  const auto longest = Subscribe("name: 's' gate: true give_up_after { seconds: 31622400 }");
  ASSERT_THAT(longest, IsOk());
  EXPECT_EQ(longest->give_up_after_seconds, 366 * 86400);
  EXPECT_EQ(Describe(*longest), "{kinds=all consumer=\"\" gate=true give_up_after=31622400s}");
}

TEST(ReadSubscriptionTest, WhatIsWrongWithAGateIsNamed) {
  EXPECT_THAT(Subscribe("name: 's' gate: true kinds: EVENT_KIND_GONE kinds: EVENT_KIND_PURGED"),
              IsInvalid("subscription.kinds is PURGED,GONE: must be empty or contain EXPIRED"));
  EXPECT_THAT(Subscribe("name: 's' give_up_after { seconds: 5 }"),
              IsInvalid("subscription.give_up_after is 5 s and 0 ns", "must be absent"));
  for (const char* wrong : {"", "seconds: -1", "seconds: 31622401", "seconds: 1 nanos: 1"}) {
    EXPECT_THAT(Subscribe(absl::StrCat("name: 's' gate: true give_up_after { ", wrong, " }")),
                IsInvalid("subscription.give_up_after is ", "whole seconds, 1 to 31622400 s"))
        << wrong;
  }
}

TEST(ReadSubscriptionTest, WhatIsWrongIsNamed) {
  const std::string long_name(256, 'n');
  const std::string long_consumer(513, 'c');
  EXPECT_THAT(Subscribe(""), IsInvalid("subscription.name is \"\""));
  EXPECT_THAT(Subscribe(absl::StrCat("name: '", long_name, "'")),
              IsInvalid("subscription.name", "256 bytes"));
  EXPECT_THAT(Subscribe("name: 's' kinds: EVENT_KIND_UNSPECIFIED"),
              IsInvalid("subscription.kinds[0] is 0"));
  EXPECT_THAT(Subscribe(absl::StrCat("name: 's' consumer: '", long_consumer, "'")),
              IsInvalid("subscription.consumer", "513 bytes"));
  EXPECT_THAT(Subscribe("name: 's' consumer: '\\001'"), IsInvalid("subscription.consumer"));
  EXPECT_THAT(Subscribe("name: 's' consumer: 'address:0.0.0.0:7 from ipv4:10.0.0.3:5'"),
              IsInvalid("subscription.consumer", "never comes again"));
  EXPECT_TRUE(Subscribe("name: 's' consumer: 'address:/run/a.sock'").ok());
}

TEST(EventToProtoTest, EveryFieldIsAnnounced) {
  FeedEvent event;
  event.kind = EventKind::kPurged;
  event.sequence = 7;
  event.time = absl::FromUnixSeconds(1'800'000'000) + absl::Milliseconds(5);
  event.key = {"p", "i"};
  event.ts = 1'799'999'000;
  event.ttl_source = TtlSource::kContainer;
  event.expire_time = 1'799'999'100;
  event.expired_sequence = 3;
  event.late = true;
  event.superseded = true;
  event.lateness_seconds = 12;
  event.new_ts = 5;
  event.default_ttl = 60;
  event.old_default_ttl = -1;
  event.given_up_subscriptions = {"archive", "billing"};
  const auto want = Proto<v1::Event>(
      "kind: EVENT_KIND_PURGED container: 'c' sequence: 7 "
      "event_time { seconds: 1800000000 nanos: 5000000 } partition_key: 'p' id: 'i' "
      "ts: 1799999000 ttl_source: TTL_SOURCE_CONTAINER expire_time: 1799999100 "
      "expired_sequence: 3 late: true superseded: true lateness { seconds: 12 } new_ts: 5 "
      "default_ttl: 60 old_default_ttl: -1 given_up_subscriptions: 'archive' "
      "given_up_subscriptions: 'billing'");
  EXPECT_EQ(ToProto(event, "c").DebugString(), want.DebugString());
}

TEST(EventToProtoTest, WhatAnEventLacksIsAbsent) {
  FeedEvent event;
  event.kind = EventKind::kPolicyChanged;
  event.time = absl::UnixEpoch();
  const v1::Event proto = ToProto(event, "c");
  EXPECT_FALSE(proto.has_expire_time());
  EXPECT_FALSE(proto.has_lateness());
  EXPECT_FALSE(proto.has_default_ttl());
  EXPECT_FALSE(proto.has_old_default_ttl());
}

TEST(EventToProtoTest, TheKindsAreThoseOfTheApi) {
  EXPECT_EQ(kEventKinds, v1::EventKind_MAX);
  EXPECT_EQ(static_cast<int>(EventKind::kExpired), v1::EVENT_KIND_EXPIRED);
  EXPECT_EQ(static_cast<int>(EventKind::kPurged), v1::EVENT_KIND_PURGED);
  EXPECT_EQ(static_cast<int>(EventKind::kGone), v1::EVENT_KIND_GONE);
  EXPECT_EQ(static_cast<int>(EventKind::kRevived), v1::EVENT_KIND_REVIVED);
  EXPECT_EQ(static_cast<int>(EventKind::kReplaced), v1::EVENT_KIND_REPLACED);
  EXPECT_EQ(static_cast<int>(EventKind::kPolicyChanged), v1::EVENT_KIND_POLICY_CHANGED);
  EXPECT_EQ(static_cast<int>(EventKind::kResync), v1::EVENT_KIND_RESYNC);
  EXPECT_EQ(static_cast<int>(EventKind::kExpiring), v1::EVENT_KIND_EXPIRING);
}

}  // namespace
}  // namespace ttl
