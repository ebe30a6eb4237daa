// CheckRequest and CheckAnswers against the generated messages, which define what the
// bytes mean.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "service/base/proto_time.h"
#include "service/rpc/checks/check_answers.h"
#include "service/rpc/checks/check_request.h"
#include "tests/testing/rpc_matchers.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

// Whether `parsed` says what `message` says.
void ExpectSame(const CheckRequest& parsed, const v1::CheckVisibilityRequest& message) {
  EXPECT_EQ(std::string(parsed.container()), message.container());
  std::optional<absl::Time> as_of;
  if (message.has_as_of()) as_of = FromProto(message.as_of());
  EXPECT_EQ(parsed.as_of(), as_of);
  ASSERT_EQ(parsed.count(), static_cast<size_t>(message.checks_size()));
  for (int i = 0; i < message.checks_size() && i <= kMaxChecksPerCall; ++i) {
    const Check& check = parsed.checks()[i];
    const v1::VisibilityCheck& want = message.checks(i);
    EXPECT_EQ(std::string(check.partition_key), want.partition_key());
    EXPECT_EQ(std::string(check.id), want.id());
    ASSERT_EQ(check.carried.has_value(), want.has_ts());
    if (!want.has_ts()) continue;
    EXPECT_EQ(check.carried->ts, want.ts());
    EXPECT_EQ(check.carried->ttl, want.has_ttl() ? std::optional(want.ttl()) : std::nullopt);
    EXPECT_EQ(check.carried->expire_at,
              want.has_expire_at() ? std::optional(want.expire_at()) : std::nullopt);
  }
}

v1::CheckVisibilityRequest ArbitraryRequest() {
  v1::CheckVisibilityRequest request;
  request.set_container(*rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  if (*rc::gen::arbitrary<bool>()) {
    request.mutable_as_of()->set_seconds(*rc::gen::arbitrary<int64_t>());
    request.mutable_as_of()->set_nanos(*rc::gen::arbitrary<int32_t>());
  }
  for (int left = *rc::gen::inRange(0, 20); left > 0; --left) {
    v1::VisibilityCheck& check = *request.add_checks();
    check.set_partition_key(*rc::gen::arbitrary<std::string>());
    check.set_id(*rc::gen::arbitrary<std::string>());
    if (*rc::gen::arbitrary<bool>()) check.set_ts(*rc::gen::arbitrary<int64_t>());
    if (*rc::gen::arbitrary<bool>()) check.set_ttl(*rc::gen::arbitrary<int64_t>());
    if (*rc::gen::arbitrary<bool>()) check.set_expire_at(*rc::gen::arbitrary<int64_t>());
  }
  return request;
}

RC_GTEST_PROP(CheckWireProperty, ARequestIsReadAsTheGeneratedClassReadsIt, ()) {
  const v1::CheckVisibilityRequest request = ArbitraryRequest();
  const std::string bytes = request.SerializeAsString();
  CheckRequest parsed;
  RC_ASSERT(parsed.Parse(bytes).ok());
  ExpectSame(parsed, request);
}

// As every message that is repeated, the parts of one instant are merged.
TEST(CheckWireTest, AnInstantInTwoPartsIsOne) {
  v1::CheckVisibilityRequest seconds;
  seconds.mutable_as_of()->set_seconds(1'800'000'000);
  v1::CheckVisibilityRequest nanos;
  nanos.mutable_as_of()->set_nanos(5);
  const std::string bytes = seconds.SerializeAsString() + nanos.SerializeAsString();
  v1::CheckVisibilityRequest message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  CheckRequest parsed;
  ASSERT_THAT(parsed.Parse(bytes), IsOk());
  ExpectSame(parsed, message);
  ASSERT_THAT(parsed.Parse(""), IsOk());
  EXPECT_EQ(parsed.as_of(), std::nullopt) << "of the previous request";
}

// Bytes that were cut, changed or made up: both accept them, or none does. Ids that are
// not UTF-8 are left out, which only the generated class refuses.
RC_GTEST_PROP(CheckWireProperty, DamagedBytesAreAcceptedOnlyIfTheGeneratedClassDoes, ()) {
  v1::CheckVisibilityRequest request = ArbitraryRequest();
  request.clear_container();
  std::string bytes = request.SerializeAsString();
  for (int changes = *rc::gen::inRange(1, 4); changes > 0 && !bytes.empty(); --changes) {
    const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        bytes[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, 1, *rc::gen::arbitrary<char>());
    }
  }
  v1::CheckVisibilityRequest message;
  const bool accepted = message.ParseFromString(bytes);
  if (accepted) RC_PRE(message.container().empty());
  CheckRequest parsed;
  const bool ours = parsed.Parse(bytes).ok();
  if (!accepted && ours) RC_PRE(parsed.container().empty());
  RC_ASSERT(ours == accepted);
  if (accepted) ExpectSame(parsed, message);
}

RC_GTEST_PROP(CheckWireProperty, AStreamedRequestIsReadAsTheGeneratedClassReadsIt, ()) {
  v1::StreamCheckVisibilityRequest request;
  *request.mutable_request() = ArbitraryRequest();
  const std::string bytes = request.SerializeAsString();
  CheckRequest parsed;
  RC_ASSERT(parsed.ParseStreamed(bytes).ok());
  ExpectSame(parsed, request.request());
}

RC_GTEST_PROP(CheckWireProperty, AnswersAreWrittenAsTheGeneratedClassWritesThem, ()) {
  const auto seconds = *rc::gen::inRange<int64_t>(0, 4'000'000'000);
  const absl::Time now =
      absl::FromUnixSeconds(seconds) + absl::Nanoseconds(*rc::gen::inRange(0, 1'000'000'000));
  v1::CheckVisibilityResponse response;
  response.mutable_judged_at()->set_seconds(seconds);
  response.mutable_judged_at()->set_nanos(
      static_cast<int32_t>((now - absl::FromUnixSeconds(seconds)) / absl::Nanoseconds(1)));
  CheckAnswers answers;
  const int count = *rc::gen::inRange(1, 300);
  answers.Begin(now, count);
  for (int i = 0; i < count; ++i) {
    const auto visibility = static_cast<v1::Visibility>(*rc::gen::inRange(1, 4));
    const auto expire_time = *rc::gen::element<std::optional<int64_t>>(
        std::nullopt, 1, 127, 128, 2'000'000'000, -5, std::numeric_limits<int64_t>::max());
    answers.Add(visibility, expire_time);
    response.add_visibilities(visibility);
    response.add_expire_times(expire_time.value_or(0));
  }
  std::string wire(answers.WireSize(), '\0');
  answers.Write(reinterpret_cast<uint8_t*>(wire.data()));
  RC_ASSERT(wire == response.SerializeAsString());

  v1::StreamCheckVisibilityResponse streamed;
  *streamed.mutable_response() = response;
  wire.assign(answers.StreamedWireSize(), '\0');
  answers.WriteStreamed(reinterpret_cast<uint8_t*>(wire.data()));
  RC_ASSERT(wire == streamed.SerializeAsString());
}

TEST(CheckRequestTest, UnknownFieldsAreSkippedWhateverTheirType) {
  // Field 15 as varint, 64 bits, bytes, 32 bits, and a group with a field in it.
  const std::string unknown = {0x78, 0x01, 0x79, 1,    2, 3, 4, 5, 6,    7,    8,    0x7A,
                               2,    'x',  'y',  0x7D, 1, 2, 3, 4, 0x7B, 0x08, 0x05, 0x7C};
  v1::CheckVisibilityRequest request;
  request.set_container("c");
  request.add_checks()->set_id("a");
  CheckRequest parsed;
  const std::string bytes = unknown + request.SerializeAsString() + unknown;
  ASSERT_THAT(parsed.Parse(bytes), IsOk());
  ExpectSame(parsed, request);
}

// Numbers may be written with more bytes than they need, up to a limit of each kind.
TEST(CheckRequestTest, LongEncodingsAreAcceptedAsTheGeneratedClassAcceptsThem) {
  const std::string tails[] = {
      std::string("\xB8\xB8\xB8\xB8\x12\x00", 6),              // a tag of more than 32 bits
      std::string("\x92\x80\x80\x80\x00\x00", 6),              // a tag in five bytes
      std::string("\x92\x80\x80\x80\x80\x00\x00", 7),          // a tag in six
      std::string("\x12\x80\x80\x80\x80\x00", 6),              // a length in five bytes
      std::string("\x12\x80\x80\x80\x80\x80\x00", 7),          // a length in six
      std::string("\x12\x80\x80\x80\x80\x10", 6),              // a length of 2^32
      std::string("\x78\x80\x80\x80\x80\x80\x80\x00", 8),      // a value in seven bytes
      std::string("\x80\x80\x80\x80\x10\x00", 6),              // a tag of 2^32: field 0
      std::string("\x78") + std::string(10, '\x80') + '\x00',  // a value in eleven
  };
  for (const std::string& tail : tails) {
    const std::string bytes =
        "\x12\x03\x12\x01"
        "a" +
        tail;
    v1::CheckVisibilityRequest message;
    CheckRequest parsed;
    const bool accepted = message.ParseFromString(bytes);
    EXPECT_EQ(parsed.Parse(bytes).ok(), accepted) << testing::PrintToString(tail);
    if (accepted) ExpectSame(parsed, message);
  }
}

TEST(CheckRequestTest, LaterFieldsWinAndPartsOfAStreamedRequestAreMerged) {
  v1::StreamCheckVisibilityRequest one;
  one.mutable_request()->set_container("first");
  one.mutable_request()->add_checks()->set_id("a");
  v1::StreamCheckVisibilityRequest two;
  two.mutable_request()->set_container("second");
  two.mutable_request()->add_checks()->set_id("b");
  const std::string bytes = one.SerializeAsString() + two.SerializeAsString();
  v1::StreamCheckVisibilityRequest merged;
  ASSERT_TRUE(merged.ParseFromString(bytes));
  CheckRequest parsed;
  ASSERT_THAT(parsed.ParseStreamed(bytes), IsOk());
  ExpectSame(parsed, merged.request());
}

TEST(CheckRequestTest, WhatIsNoRequestIsRefusedAndForgotten) {
  CheckRequest parsed;
  v1::CheckVisibilityRequest request;
  request.set_container("c");
  request.add_checks()->set_id("a");
  const std::string good = request.SerializeAsString();
  ASSERT_THAT(parsed.Parse(good), IsOk());
  for (const std::string& bad : {std::string("\x12\x05\x0A"), std::string("\x00", 1),
                                 std::string(11, '\xFF'), std::string("\x7C")}) {
    EXPECT_THAT(parsed.Parse(bad),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("CheckVisibilityRequest")));
    EXPECT_EQ(parsed.count(), 0u);
  }
}

}  // namespace
}  // namespace ttl
