#include "service/rpc/mapping/item_mapping.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_proto.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

Container WithDefaultTtl(std::optional<int64_t> default_ttl) {
  Container container;
  container.settings.policy.default_ttl = default_ttl;
  return container;
}

v1::ItemView View(std::optional<int64_t> default_ttl, ItemTimes times,
                  absl::Time now = absl::FromUnixSeconds(kNowSeconds)) {
  ItemVersion version;
  version.times = times;
  return MakeItemView(WithDefaultTtl(default_ttl), {"p", "i"}, version, now);
}

MATCHER_P(EqualsProto, text, "") {
  *result_listener << arg.ShortDebugString();
  return google::protobuf::util::MessageDifferencer::Equals(
      arg, Proto<std::decay_t<decltype(arg)>>(text));
}

TEST(ItemViewTest, EveryFieldOfTheItemIsShown) {
  EXPECT_THAT(MakeItemView(WithDefaultTtl(60), {"p", "i"}, {{kNowSeconds, 10}, "e", 0, 7},
                           absl::FromUnixSeconds(kNowSeconds))
                  .item(),
              EqualsProto("partition_key: 'p' id: 'i' ts: 1800000000 ttl: 10 etag: 'e' "
                          "sequence: 0 size_bytes: 7"));
}

TEST(ItemViewTest, WhatFollowsFromThePolicy) {
  const std::string item = "item { partition_key: 'p' id: 'i' ts: 1800000000 ";
  EXPECT_THAT(View(60, {kNowSeconds, std::nullopt}),
              EqualsProto(item + "} effective_ttl: 60 ttl_source: TTL_SOURCE_CONTAINER "
                                 "expire_time: 1800000060 remaining_seconds: 60"));
  EXPECT_THAT(View(60, {kNowSeconds, 10}),
              EqualsProto(item + "ttl: 10 } effective_ttl: 10 ttl_source: TTL_SOURCE_ITEM "
                                 "expire_time: 1800000010 remaining_seconds: 10"));
  EXPECT_THAT(View(60, {kNowSeconds, -1}),
              EqualsProto(item + "ttl: -1 } ttl_source: TTL_SOURCE_NONE"));
  EXPECT_THAT(View(std::nullopt, {kNowSeconds, 10}),
              EqualsProto(item + "ttl: 10 } ttl_source: TTL_SOURCE_NONE"));
}

TEST(ItemViewTest, ATouchIsShownAndMovesTheEnd) {
  const ItemTimes touched = {kNowSeconds - 50, 60, std::nullopt, kNowSeconds - 10};
  EXPECT_THAT(View(60, touched),
              EqualsProto("item { partition_key: 'p' id: 'i' ts: 1799999950 ttl: 60 } "
                          "effective_ttl: 60 ttl_source: TTL_SOURCE_ITEM expire_time: 1800000050 "
                          "remaining_seconds: 50 touch_time: 1799999990"));
}

// B30: 0..ttl while visible, rounded up; 0 once expired; "never" has its own form.
TEST(ItemViewTest, RemainingSecondsAreBetweenZeroAndTtl) {
  const auto at = [](absl::Duration after) {
    return View(-1, {kNowSeconds, 10}, absl::FromUnixSeconds(kNowSeconds) + after);
  };
  EXPECT_EQ(at(absl::ZeroDuration()).remaining_seconds(), 10);
  EXPECT_EQ(at(-absl::Hours(1)).remaining_seconds(), 10);  // a clock behind the store's
  EXPECT_EQ(at(absl::Milliseconds(9600)).remaining_seconds(), 1);
  EXPECT_FALSE(at(absl::Milliseconds(9600)).expired());
  EXPECT_EQ(at(absl::Seconds(10)).remaining_seconds(), 0);
  EXPECT_TRUE(at(absl::Seconds(10)).expired());
  EXPECT_EQ(at(absl::Hours(1)).remaining_seconds(), 0);
  EXPECT_FALSE(View(-1, {kNowSeconds, -1}).has_remaining_seconds());
}

TEST(IsLiveTest, NeitherExpiredNorKnownToBeWrong) {
  TrackedItem item;
  item.version.times = {kNowSeconds, 10};
  const Container container = WithDefaultTtl(-1);
  EXPECT_TRUE(IsLive(container, item, absl::FromUnixSeconds(kNowSeconds + 9)));
  EXPECT_FALSE(IsLive(container, item, absl::FromUnixSeconds(kNowSeconds + 10)));
  EXPECT_TRUE(IsLive(WithDefaultTtl(std::nullopt), item, absl::FromUnixSeconds(kNowSeconds + 10)));
  item.state_unknown = true;
  EXPECT_FALSE(IsLive(container, item, absl::FromUnixSeconds(kNowSeconds)));
}

}  // namespace
}  // namespace ttl
