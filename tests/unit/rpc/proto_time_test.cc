#include "service/base/proto_time.h"

#include "gtest/gtest.h"

namespace ttl {
namespace {

TEST(ProtoTimeTest, InstantsKeepTheirNanoseconds) {
  const auto proto = ToProto(absl::FromUnixNanos(1'800'000'000'123'456'789));
  EXPECT_EQ(proto.seconds(), 1'800'000'000);
  EXPECT_EQ(proto.nanos(), 123'456'789);
}

TEST(ProtoTimeTest, NanosecondsBefore1970ArePositive) {
  const auto proto = ToProto(absl::UnixEpoch() - absl::Nanoseconds(1));
  EXPECT_EQ(proto.seconds(), -1);
  EXPECT_EQ(proto.nanos(), 999'999'999);
}

TEST(ProtoTimeTest, InstantsBeyondATimestampBecomeTheNearest) {
  EXPECT_EQ(ToProto(absl::InfiniteFuture()).seconds(), 253402300799);
  EXPECT_EQ(ToProto(absl::InfinitePast()).seconds(), -62135596800);
}

TEST(ProtoTimeTest, BothPartsOfADurationHaveItsSign) {
  const auto ahead = ToProto(absl::Milliseconds(1500));
  EXPECT_EQ(ahead.seconds(), 1);
  EXPECT_EQ(ahead.nanos(), 500'000'000);
  const auto behind = ToProto(absl::Milliseconds(-1500));
  EXPECT_EQ(behind.seconds(), -1);
  EXPECT_EQ(behind.nanos(), -500'000'000);
  EXPECT_EQ(ToProto(absl::InfiniteDuration()).seconds(), 315576000000);
}

}  // namespace
}  // namespace ttl
