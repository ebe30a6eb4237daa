#include "service/rpc/mapping/hold_mapping.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<HoldRequest> ReadHold(const std::string& fields) {
  return ReadHoldRequest(Proto<v1::PlaceHoldRequest>(fields), "cn:ops", kNow);
}

// A request that is right but for `fields`.
absl::StatusOr<HoldRequest> ReadHoldWith(const std::string& fields) {
  return ReadHold(absl::StrCat("hold_id: 'h' reason: 'r' ", fields));
}

TEST(ReadHoldRequestTest, EveryFieldIsTaken) {
  const auto hold = ReadHoldWith(
      "until { seconds: 1800000001 } keys { keys { partition_key: 'p' id: 'a' } keys { } }");
  ASSERT_THAT(hold, IsOk());
  EXPECT_EQ(hold->hold_id, "h");
  EXPECT_EQ(hold->reason, "r");
  EXPECT_EQ(hold->author, "cn:ops");
  EXPECT_EQ(hold->until, kNow + absl::Seconds(1));
  EXPECT_THAT(std::get<ItemsByKey>(hold->scope).keys,
              ElementsAre(ItemKey{"p", "a"}, ItemKey{"", ""}));
}

TEST(ReadHoldRequestTest, AHoldCoversKeysAPartitionOrAll) {
  EXPECT_EQ(std::get<ItemsOfPartition>(ReadHoldWith("partition_key: 'p'")->scope).partition_key,
            "p");
  EXPECT_EQ(std::get<ItemsOfPartition>(ReadHoldWith("partition_key: ''")->scope).partition_key, "");
  EXPECT_TRUE(std::holds_alternative<AllItems>(ReadHoldWith("all_items: true")->scope));
  EXPECT_EQ(ReadHoldWith("all_items: true")->until, std::nullopt);
}

TEST(ReadHoldRequestTest, AnEndIsRoundedUpToWholeSeconds) {
  const struct {
    const char* until;
    absl::Time want;
  } kCases[] = {
      {"seconds: 1800000000 nanos: 1", kNow + absl::Seconds(1)},
      {"seconds: 1800000001", kNow + absl::Seconds(1)},
      {"seconds: 1800000001 nanos: 999999999", kNow + absl::Seconds(2)},
      {"seconds: 253402300798 nanos: 1", absl::FromUnixSeconds(253402300799)},
      {"seconds: 253402300799", absl::FromUnixSeconds(253402300799)},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ReadHoldWith(absl::StrCat("all_items: true until { ", c.until, " }"))->until, c.want)
        << c.until;
  }
}

TEST(ReadHoldRequestTest, WhatIsNotAllowedIsNamed) {
  const std::string all = "reason: 'r' all_items: true hold_id: ";
  const struct {
    std::string fields;
    const char* name;
    const char* right;
  } kCases[] = {
      {"reason: 'r' all_items: true", "hold_id is \"\"", "must have 1 to 255 bytes"},
      {absl::StrCat(all, "'", std::string(256, 'h'), "'"), "(256 bytes)", "1 to 255 bytes"},
      {absl::StrCat(all, "'a\\nb'"), "hold_id is \"a\\nb\"", "must not have control characters"},
      {"hold_id: 'h' all_items: true", "reason is \"\"", "must have 1 to 1024 bytes"},
      {absl::StrCat("hold_id: 'h' all_items: true reason: '", std::string(1025, 'r'), "'"),
       "(1025 bytes)", "1 to 1024 bytes"},
      {"hold_id: 'h' reason: 'r'", "scope is absent", "keys, partition_key or all_items"},
      {"hold_id: 'h' reason: 'r' all_items: false", "all_items is false", "must be true"},
      {"hold_id: 'h' reason: 'r' keys { }", "keys.keys has 0 entries", "1 to 1000"},
      {absl::StrCat("hold_id: 'h' reason: 'r' keys { keys { } keys { id: '", std::string(1024, 'i'),
                    "' } }"),
       "keys.keys[1].id is", "0 to 1023 bytes"},
      {absl::StrCat("hold_id: 'h' reason: 'r' keys { keys { partition_key: '",
                    std::string(2049, 'p'), "' } }"),
       "keys.keys[0].partition_key is", "0 to 2048 bytes"},
      {absl::StrCat("hold_id: 'h' reason: 'r' partition_key: '", std::string(2049, 'p'), "'"),
       "partition_key is", "0 to 2048 bytes"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(ReadHold(c.fields), IsInvalid(c.name, c.right)) << c.fields.substr(0, 99);
  }
}

TEST(ReadHoldRequestTest, AnEndMustBeAheadAndATime) {
  for (const char* until :
       {"seconds: 1800000000", "seconds: 1799999999 nanos: 999999999", "seconds: 0", "seconds: -1",
        "seconds: 253402300799 nanos: 1", "seconds: 253402300800", "seconds: 9223372036854775807",
        "seconds: 1800000001 nanos: -1", "seconds: 1800000001 nanos: 1000000000"}) {
    EXPECT_THAT(ReadHoldWith(absl::StrCat("all_items: true until { ", until, " }")),
                IsInvalid("until is", "2027-01-15T08:00:00Z", "before the year 10000"))
        << until;
  }
}

TEST(ReadHoldRequestTest, AThousandKeysAreTheMost) {
  v1::PlaceHoldRequest request = Proto<v1::PlaceHoldRequest>("hold_id: 'h' reason: 'r'");
  for (int i = 0; i < 1000; ++i) request.mutable_keys()->add_keys()->set_id(absl::StrCat(i));
  EXPECT_THAT(ReadHoldRequest(request, "", kNow), IsOk());
  request.mutable_keys()->add_keys();
  EXPECT_THAT(ReadHoldRequest(request, "", kNow), IsInvalid("keys.keys has 1001 entries"));
}

Hold MakeHold(Hold::Scope scope) {
  Hold hold;
  hold.hold_id = "h";
  hold.reason = "r";
  hold.author = "cn:ops";
  hold.create_time = kNow;
  hold.scope = scope;
  hold.partition_key = "p";
  hold.key_count = 7;
  return hold;
}

TEST(HoldToProtoTest, ScopesAreToldApart) {
  const v1::Hold by_keys = ToProto(MakeHold(Hold::Scope::kKeys), "c");
  EXPECT_EQ(by_keys.container(), "c");
  EXPECT_EQ(by_keys.hold_id(), "h");
  EXPECT_EQ(by_keys.reason(), "r");
  EXPECT_EQ(by_keys.author(), "cn:ops");
  EXPECT_EQ(by_keys.create_time().seconds(), kNowSeconds);
  EXPECT_FALSE(by_keys.has_until());
  EXPECT_EQ(by_keys.key_count(), 7);
  EXPECT_EQ(ToProto(MakeHold(Hold::Scope::kPartition), "c").partition_key(), "p");
  EXPECT_TRUE(ToProto(MakeHold(Hold::Scope::kAll), "c").all_items());
  Hold ends = MakeHold(Hold::Scope::kAll);
  ends.until = kNow + absl::Hours(1);
  EXPECT_EQ(ToProto(ends, "c").until().seconds(), kNowSeconds + 3600);
}

TEST(DescribeHoldTest, ALineSaysScopeReasonEndAndAuthor) {
  EXPECT_EQ(Describe(MakeHold(Hold::Scope::kKeys)),
            "{scope=7_keys reason=\"r\" until=released author=\"cn:ops\"}");
  Hold hold = MakeHold(Hold::Scope::kPartition);
  hold.until = kNow;
  EXPECT_EQ(Describe(hold),
            "{scope=partition \"p\" reason=\"r\" until=2027-01-15T08:00:00Z author=\"cn:ops\"}");
}

}  // namespace
}  // namespace ttl
