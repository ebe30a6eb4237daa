#include "tests/bench/workload/oracle.h"

#include <gtest/gtest.h>

namespace ttl::workload {
namespace {

constexpr int64_t kDefaultTtl = 60;
constexpr int64_t kTs = 1'000'000;

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

DocumentState State(int64_t ts, std::optional<int64_t> ttl, uint32_t version) {
  return {.ts = ts, .ttl = ttl, .version = version, .etag = std::to_string(version)};
}

TEST(OracleTest, ExpireTimeFollowsOwnTtlOrDefault) {
  Oracle oracle(kDefaultTtl, 4);
  oracle.Written(0, State(kTs, std::nullopt, 1));
  oracle.Written(1, State(kTs, 5, 1));
  oracle.Written(2, State(kTs, -1, 1));
  EXPECT_EQ(oracle.ExpireTime(0), At(kTs + 60));
  EXPECT_EQ(oracle.ExpireTime(1), At(kTs + 5));
  EXPECT_EQ(oracle.ExpireTime(2), absl::InfiniteFuture());
  EXPECT_EQ(oracle.ExpireTime(3), absl::InfinitePast());
  EXPECT_EQ(oracle.CountLive(At(kTs + 5) - absl::Nanoseconds(1)), 3);
  EXPECT_EQ(oracle.CountLive(At(kTs + 5)), 2);
}

TEST(OracleTest, NoticesEveryKindOfWrongAnswer) {
  Oracle oracle(kDefaultTtl, 2);
  oracle.Written(0, State(kTs, 5, 1));
  const absl::Time live = At(kTs + 5) - absl::Nanoseconds(1);
  const absl::Time expired = At(kTs + 5);
  EXPECT_FALSE(oracle.CheckFound(0, State(kTs, 5, 1), live).has_value());
  EXPECT_TRUE(oracle.CheckFound(0, State(kTs, 5, 1), expired).has_value());
  EXPECT_TRUE(oracle.CheckFound(0, State(kTs + 1, 5, 1), live).has_value());
  EXPECT_TRUE(oracle.CheckFound(0, State(kTs, std::nullopt, 1), live).has_value());
  EXPECT_TRUE(oracle.CheckFound(0, State(kTs, 5, 2), live).has_value());
  EXPECT_TRUE(oracle.CheckFound(1, State(kTs, 5, 1), live).has_value());
  EXPECT_TRUE(oracle.CheckMissing(0, live).has_value());
  EXPECT_FALSE(oracle.CheckMissing(0, expired).has_value());
  EXPECT_FALSE(oracle.CheckMissing(1, live).has_value());
  EXPECT_FALSE(oracle.CheckExisted(0, live).has_value());
  EXPECT_TRUE(oracle.CheckExisted(0, expired).has_value());
}

TEST(OracleTest, UnansweredWriteMayHaveHappenedOrNot) {
  for (const uint32_t survivor : {1u, 2u}) {
    Oracle oracle(kDefaultTtl, 1);
    oracle.Written(0, State(kTs, std::nullopt, 1));
    oracle.MaybeWritten(0, 2, 5, At(kTs + 10));
    EXPECT_TRUE(oracle.IsUncertain(0));
    const DocumentState found = survivor == 1 ? State(kTs, std::nullopt, 1) : State(kTs + 11, 5, 2);
    EXPECT_FALSE(oracle.ResolveFound(0, found, At(kTs + 12)).has_value());
    EXPECT_FALSE(oracle.IsUncertain(0));
    EXPECT_EQ(oracle.Version(0), survivor);
  }
}

TEST(OracleTest, UnansweredWriteExcusesNothingElse) {
  Oracle oracle(kDefaultTtl, 1);
  oracle.Written(0, State(kTs, std::nullopt, 1));
  oracle.MaybeWritten(0, 2, 5, At(kTs + 10));
  EXPECT_TRUE(oracle.ResolveFound(0, State(kTs + 9, 5, 2), At(kTs + 12)).has_value());
  EXPECT_TRUE(oracle.ResolveFound(0, State(kTs + 11, 6, 2), At(kTs + 12)).has_value());
  EXPECT_TRUE(oracle.ResolveFound(0, State(kTs + 11, 5, 3), At(kTs + 12)).has_value());
  EXPECT_TRUE(oracle.ResolveMissing(0, At(kTs + 12)).has_value());
  EXPECT_FALSE(oracle.ResolveMissing(0, At(kTs + 15)).has_value());
  EXPECT_FALSE(oracle.Version(0).has_value());
}

TEST(OracleTest, UnansweredDeleteMayHaveHappenedOrNot) {
  Oracle oracle(kDefaultTtl, 2);
  for (const uint32_t number : {0u, 1u}) {
    oracle.Written(number, State(kTs, -1, 1));
    oracle.MaybeDeleted(number);
  }
  EXPECT_FALSE(oracle.ResolveFound(0, State(kTs, -1, 1), At(kTs + 1)).has_value());
  EXPECT_FALSE(oracle.ResolveMissing(1, At(kTs + 1)).has_value());
  EXPECT_TRUE(oracle.IsLive(0, At(kTs + 1)));
  EXPECT_FALSE(oracle.IsLive(1, At(kTs + 1)));
}

}  // namespace
}  // namespace ttl::workload
