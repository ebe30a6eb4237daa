// While a container's TTL is off an item's ttl is not interpreted, so that one that is not legal
// is kept and not refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kIllegal[] = {0, -2, int64_t{1} << 31, 1'700'000'000'000,
                                std::numeric_limits<int64_t>::min()};

TEST(IllegalTtlTest, WhileTtlIsOffItIsKeptAndCounted) {
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(std::nullopt).ok());
  int64_t counted = 0;
  for (const int64_t ttl : kIllegal) {
    const auto tracked = sidecar.Track(absl::StrCat(ttl), sidecar.Now(), ttl);
    ASSERT_TRUE(tracked.ok()) << tracked.status();
    EXPECT_EQ(*tracked, v1::TRACK_RESULT_TRACKED);
    EXPECT_EQ(sidecar.check_counters().illegal_ttls, ++counted);
    const auto item = sidecar.Get(absl::StrCat(ttl));
    ASSERT_TRUE(item.ok()) << item.status();
    EXPECT_EQ(item->item().ttl(), ttl);
    EXPECT_FALSE(item->has_expire_time());
  }
  ASSERT_TRUE(sidecar.Track("legal", sidecar.Now(), 5).ok());
  EXPECT_EQ(sidecar.check_counters().illegal_ttls, counted);
}

TEST(IllegalTtlTest, SuchAnItemNeverExpiresUntilItIsWrittenAgain) {
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(std::nullopt).ok());
  const int64_t ts = sidecar.Now();
  for (const int64_t ttl : kIllegal) ASSERT_TRUE(sidecar.Track(absl::StrCat(ttl), ts, ttl).ok());
  ASSERT_TRUE(sidecar.SetDefaultTtl(60).ok());
  sidecar.clock().Advance(absl::Hours(1));
  for (const int64_t ttl : kIllegal) {
    EXPECT_EQ(sidecar.Check(absl::StrCat(ttl)), v1::VISIBILITY_VISIBLE) << ttl;
  }
  EXPECT_TRUE(sidecar.storage().DueIds("c", sidecar.Now()).empty());
  ASSERT_TRUE(sidecar.Track("0", ts + 1).ok());
  EXPECT_EQ(sidecar.Check("0"), v1::VISIBILITY_EXPIRED);
  sidecar.Restart();
  EXPECT_EQ(sidecar.Check("-2"), v1::VISIBILITY_VISIBLE);
}

TEST(IllegalTtlTest, WhileTtlIsOnItIsRefused) {
  RpcSidecar sidecar;
  for (const int64_t default_ttl : {int64_t{-1}, int64_t{60}}) {
    ASSERT_TRUE((default_ttl == -1 ? sidecar.Create(-1) : sidecar.SetDefaultTtl(60)).ok());
    for (const int64_t ttl : kIllegal) {
      const absl::Status refused = sidecar.Track("a", sidecar.Now(), ttl).status();
      EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << ttl;
      EXPECT_THAT(std::string(refused.message()), HasSubstr(absl::StrCat("items[0].ttl is ", ttl)));
    }
  }
  EXPECT_EQ(sidecar.check_counters().illegal_ttls, 0);
}

}  // namespace
}  // namespace ttl
