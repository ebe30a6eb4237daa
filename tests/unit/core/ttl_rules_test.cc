#include "service/core/ttl_rules.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/core/due_rules.h"
#include "tests/unit/core/generators.h"

namespace ttl {
namespace {

using generators::kMaxInt64;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::optional<int64_t> kAbsent;
constexpr int64_t kMinInt64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kTwentyYears = 630'720'000;

absl::Time At(double unix_seconds) { return absl::UnixEpoch() + absl::Seconds(unix_seconds); }

absl::Time Day(absl::CivilDay day) { return absl::FromCivil(day, absl::UTCTimeZone()); }

bool IsExpired(std::optional<int64_t> default_ttl, const ItemTimes& item, absl::Time now) {
  return IsExpiredAt(ExpireTime(default_ttl, item), now);
}

// One line of the data file.
struct RuleCase {
  std::optional<int64_t> default_ttl;
  ItemTimes item;
  std::optional<int64_t> expire_time;
  std::string source;
};

std::optional<int64_t> Number(absl::string_view field) {
  int64_t number = 0;
  return absl::SimpleAtoi(field, &number) ? std::optional(number) : std::nullopt;
}

std::vector<RuleCase> ReadRuleCases() {
  std::ifstream file(EXPIRY_RULES_FILE);
  std::vector<RuleCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("default_ttl")) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    cases.push_back({Number(fields.at(0)),
                     {1'600'000'000, Number(fields.at(1)), Number(fields.at(2))},
                     Number(fields.at(3)),
                     fields.at(4)});
  }
  return cases;
}

std::string NameOf(TtlSource source) {
  switch (source) {
    case TtlSource::kNone:
      return "none";
    case TtlSource::kItem:
      return "item";
    case TtlSource::kContainer:
      return "container";
    case TtlSource::kExpireAt:
      return "item_expire_at";
  }
  return "";
}

TEST(TtlRulesTest, AllCombinationsOfDefaultTtlTtlAndExpireAt) {
  const std::vector<RuleCase> cases = ReadRuleCases();
  ASSERT_EQ(cases.size(), 252u) << EXPIRY_RULES_FILE;
  for (const RuleCase& rule : cases) {
    SCOPED_TRACE(testing::Message() << "default_ttl " << rule.default_ttl.value_or(0) << ", ttl "
                                    << rule.item.ttl.value_or(0) << ", expire_at "
                                    << rule.item.expire_at.value_or(0) << " (0: absent or 0)");
    const Expiry expiry = ComputeExpiry(rule.default_ttl, rule.item);
    EXPECT_EQ(expiry.time, rule.expire_time);
    EXPECT_EQ(NameOf(expiry.source), rule.source);
    const bool by_ttl = expiry.source == TtlSource::kItem || expiry.source == TtlSource::kContainer;
    EXPECT_EQ(expiry.effective_ttl.has_value(), by_ttl);
    if (by_ttl) {
      EXPECT_EQ(*expiry.time, rule.item.ts + *expiry.effective_ttl);
    }
  }
}

// A touch moves an end by a ttl, up to the expire_at, and nothing else.
TEST(TtlRulesTest, ATouchMovesEachCombinationAsMuchAsItMay) {
  constexpr int64_t kLater = 7;
  for (const RuleCase& rule : ReadRuleCases()) {
    ItemTimes touched = rule.item;
    touched.touch_time = touched.ts + kLater;
    std::optional<int64_t> expected = rule.expire_time;
    if (rule.source == "item" || rule.source == "container") {
      expected = std::min(*expected + kLater, rule.item.expire_at.value_or(*expected + kLater));
    }
    EXPECT_EQ(ExpireTime(rule.default_ttl, touched), expected)
        << "default_ttl " << rule.default_ttl.value_or(0) << ", ttl " << rule.item.ttl.value_or(0)
        << ", expire_at " << rule.item.expire_at.value_or(0);
    touched.touch_time = touched.ts - kLater;
    EXPECT_EQ(ExpireTime(rule.default_ttl, touched), rule.expire_time);
  }
}

TEST(TtlRulesTest, ATtlCountsFromTheLaterOfTsAndTouch) {
  constexpr int64_t kTs = 1000;
  struct {
    std::optional<int64_t> default_ttl, ttl, expire_at;
    int64_t touch_time;
    std::optional<int64_t> expire_time;
    TtlSource source;
  } kCases[] = {
      {50, kAbsent, kAbsent, 0, 1050, TtlSource::kContainer},
      {50, kAbsent, kAbsent, 1020, 1070, TtlSource::kContainer},
      {50, kAbsent, kAbsent, 999, 1050, TtlSource::kContainer},  // written since
      {50, 30, kAbsent, 1020, 1050, TtlSource::kItem},
      {-1, 30, kAbsent, 1020, 1050, TtlSource::kItem},
      {-1, kAbsent, kAbsent, 1020, kAbsent, TtlSource::kNone},
      {50, -1, kAbsent, 1020, kAbsent, TtlSource::kNone},
      {kAbsent, 30, kAbsent, 1020, kAbsent, TtlSource::kNone},
      // expire_at is not moved, and the earlier of the two ends counts.
      {50, kAbsent, 1040, 1020, 1040, TtlSource::kExpireAt},
      {50, -1, 1040, 1020, 1040, TtlSource::kExpireAt},
      {50, 30, 1060, 1020, 1050, TtlSource::kItem},
      {50, 30, 1040, 1020, 1040, TtlSource::kExpireAt},
      {50, 30, 1040, 0, 1030, TtlSource::kItem},
      {50, 30, kAbsent, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max(),
       TtlSource::kItem},
  };
  for (const auto& c : kCases) {
    const ItemTimes item = {kTs, c.ttl, c.expire_at, c.touch_time};
    SCOPED_TRACE(testing::Message() << "default_ttl " << c.default_ttl.value_or(0) << ", ttl "
                                    << c.ttl.value_or(0) << ", touched at " << c.touch_time);
    const Expiry expiry = ComputeExpiry(c.default_ttl, item);
    EXPECT_EQ(expiry.time, c.expire_time);
    EXPECT_EQ(expiry.source, c.source);
    const DueRule rule = ComputeDueRule({c.default_ttl, /*delay_seconds=*/7}, {}, At(0));
    const bool is_last = c.expire_time == std::numeric_limits<int64_t>::max();
    const std::optional<int64_t> due_time =
        c.expire_time.has_value() && !is_last ? *c.expire_time + 7 : c.expire_time;
    EXPECT_EQ(DueTime(rule, item), due_time);
  }
}

TEST(TtlRulesTest, ATouchIsNoPartOfAVersion) {
  const ItemTimes item = {1000, 30, 2000, 1010};
  EXPECT_TRUE(IsSameWrite(item, {1000, 30, 2000, 1020}));
  EXPECT_FALSE(IsSameWrite(item, {1001, 30, 2000, 1010}));
  EXPECT_FALSE(IsSameWrite(item, {1000, kAbsent, 2000, 1010}));
  EXPECT_FALSE(IsSameWrite(item, {1000, 30, kAbsent, 1010}));
}

TEST(TtlRulesTest, ExpireAtOfTheYear9999IsTheLastLegalOne) {
  EXPECT_TRUE(ValidateExpireAt("expire_at", kAbsent).ok());
  EXPECT_TRUE(ValidateExpireAt("expire_at", 1).ok());
  EXPECT_EQ(Day(absl::CivilDay(10000, 1, 1)), absl::FromUnixSeconds(kMaxExpireAt + 1));
  EXPECT_TRUE(ValidateExpireAt("expire_at", kMaxExpireAt).ok());
  EXPECT_THAT(ValidateExpireAt("items[3].expire_at", kMaxExpireAt + 1).message(),
              AllOf(HasSubstr("items[3].expire_at is 253402300800"), HasSubstr("milliseconds")));
  EXPECT_THAT(ValidateExpireAt("expire_at", 0).message(),
              AllOf(HasSubstr("expire_at is 0"), HasSubstr("1 to 253402300799")));
  EXPECT_FALSE(ValidateExpireAt("expire_at", -1).ok());
}

TEST(TtlRulesTest, ExpireAtHasNoLongestRemainingTime) {
  EXPECT_EQ(RemainingSeconds(kMaxExpireAt, kAbsent, At(0)), kMaxExpireAt);
  EXPECT_EQ(RemainingSeconds(1000, kAbsent, At(1000)), 0);
  EXPECT_EQ(RemainingSeconds(kMaxInt64, kAbsent, absl::InfinitePast()), kMaxInt64);
}

// Field report B13.
TEST(TtlRulesTest, ItemTtlIsKeptButHasNoEffectWhileTtlIsOff) {
  const ItemTimes item = {.ts = 1000, .ttl = 1};
  EXPECT_FALSE(IsExpired(kAbsent, item, At(5000)));
  EXPECT_EQ(ExpireTime(-1, item), 1001);
  EXPECT_TRUE(IsExpired(-1, item, At(5000)));
}

// Field report B28.
TEST(TtlRulesTest, ExpiredFromTheFirstInstantOfTheSecondOn) {
  const ItemTimes item = {.ts = 1000, .ttl = 10};
  EXPECT_FALSE(IsExpired(-1, item, At(1009)));
  EXPECT_FALSE(IsExpired(-1, item, At(1009.999)));
  EXPECT_FALSE(IsExpired(-1, item, At(1010) - absl::Nanoseconds(1)));
  EXPECT_TRUE(IsExpired(-1, item, At(1010)));
  EXPECT_TRUE(IsExpired(-1, item, At(1010.001)));
  EXPECT_TRUE(IsExpired(-1, item, At(1011)));
}

// Field report B28.
TEST(TtlRulesTest, InheritedTtlHasTheSameBoundary) {
  const ItemTimes item = {.ts = 1000, .ttl = kAbsent};
  EXPECT_FALSE(IsExpired(10, item, At(1009.999)));
  EXPECT_TRUE(IsExpired(10, item, At(1010)));
}

TEST(TtlRulesTest, NothingThatNeverExpiresIsExpiredInTheInfiniteFuture) {
  EXPECT_FALSE(IsExpiredAt(kAbsent, absl::InfiniteFuture()));
  EXPECT_TRUE(IsExpiredAt(1010, absl::InfiniteFuture()));
  EXPECT_FALSE(IsExpiredAt(1010, absl::InfinitePast()));
}

// Field report B01.
TEST(TtlRulesTest, LongestTtlsReachPast2038And2106) {
  for (const absl::CivilDay day : {absl::CivilDay(2026, 11, 27), absl::CivilDay(2037, 12, 31),
                                   absl::CivilDay(2038, 1, 20), absl::CivilDay(2106, 2, 8)}) {
    const int64_t ts = absl::ToUnixSeconds(Day(day));
    for (const int64_t ttl : {kTwentyYears, kMaxTtl}) {
      const std::optional<int64_t> expire_time = ExpireTime(-1, {ts, ttl});
      EXPECT_EQ(expire_time, ts + ttl) << day << " " << ttl;
      EXPECT_FALSE(IsExpiredAt(expire_time, At(static_cast<double>(ts)))) << day << " " << ttl;
      EXPECT_EQ(RemainingSeconds(*expire_time, ttl, Day(day)), ttl) << day;
      EXPECT_FALSE(IsExpiredAt(expire_time, absl::FromUnixSeconds(ts + ttl - 1)));
      EXPECT_TRUE(IsExpiredAt(expire_time, absl::FromUnixSeconds(ts + ttl)));
      EXPECT_EQ(ExpireTime(ttl, {ts, kAbsent}), ts + ttl);
    }
  }
}

TEST(TtlRulesTest, LargestTsDoesNotWrap) {
  EXPECT_EQ(ExpireTime(-1, {kMaxInt64, 1}), kMaxInt64);
  EXPECT_EQ(ExpireTime(-1, {kMaxInt64, kMaxTtl}), kMaxInt64);
  EXPECT_EQ(ExpireTime(-1, {kMaxInt64 - kMaxTtl, kMaxTtl}), kMaxInt64);
  EXPECT_EQ(ExpireTime(kMaxTtl, {kMaxInt64 - kMaxTtl - 1, kAbsent}), kMaxInt64 - 1);
}

// Field report B05.
TEST(TtlRulesTest, IllegalStoredTtlNeverExpires) {
  for (const int64_t ttl : {int64_t{0}, int64_t{-2}, int64_t{1} << 31, (int64_t{1} << 32) - 1,
                            (int64_t{1} << 32) + 60, kMaxInt64, kMinInt64}) {
    EXPECT_EQ(ExpireTime(60, {1000, ttl}), kAbsent) << ttl;
    EXPECT_EQ(ComputeExpiry(60, {1000, ttl}), Expiry()) << ttl;
  }
}

// Field report B08.
TEST(TtlRulesTest, NothingExpiresByAnIllegalDefaultTtl) {
  for (const int64_t default_ttl : {int64_t{0}, int64_t{-2}, kMaxTtl + 1, kMinInt64}) {
    EXPECT_EQ(ExpireTime(default_ttl, {1000, kAbsent}), kAbsent) << default_ttl;
    EXPECT_EQ(ExpireTime(default_ttl, {1000, 60}), kAbsent) << default_ttl;
  }
}

TEST(TtlRulesTest, TsThatCannotBeNeverExpires) {
  EXPECT_EQ(ExpireTime(60, {0, kAbsent}), kAbsent);
  EXPECT_EQ(ExpireTime(60, {-1000, 30}), kAbsent);
  EXPECT_EQ(ExpireTime(60, {kMinInt64, 30}), kAbsent);
  EXPECT_EQ(ExpireTime(60, {1, kAbsent}), 61);
}

// Field report B21.
TEST(TtlRulesTest, TsInTheFutureExpiresAtTsPlusTtl) {
  const ItemTimes item = {.ts = 1600, .ttl = 60};
  EXPECT_EQ(ExpireTime(-1, item), 1660);
  EXPECT_FALSE(IsExpired(-1, item, At(1000)));
  EXPECT_FALSE(IsExpired(-1, item, At(1659.999)));
  EXPECT_TRUE(IsExpired(-1, item, At(1660)));
  EXPECT_EQ(RemainingSeconds(1660, 60, At(1000)), 60) << "never more than the ttl";
}

// Field report B15.
TEST(TtlRulesTest, EpochSecondsAreALiteralNumberOfSeconds) {
  EXPECT_TRUE(IsLegalTtl(1767225600));
  EXPECT_EQ(ExpireTime(-1, {1000, 1767225600}), 1767226600);
  EXPECT_FALSE(IsLegalTtl(1767225600000));
}

// Field report B23.
TEST(TtlRulesTest, TimeZoneOfTheProcessDoesNotMatter) {
  const ItemTimes item = {.ts = 1'800'000'000, .ttl = 3600};
  for (const char* zone : {"UTC", "Asia/Shanghai", "America/New_York"}) {
    setenv("TZ", zone, 1);  // NOLINT(concurrency-mt-unsafe): there is one thread only
    tzset();
    EXPECT_EQ(ExpireTime(-1, item), 1'800'003'600) << zone;
    EXPECT_FALSE(IsExpired(-1, item, absl::FromUnixSeconds(1'800'003'599))) << zone;
    EXPECT_TRUE(IsExpired(-1, item, absl::FromUnixSeconds(1'800'003'600))) << zone;
  }
  unsetenv("TZ");  // NOLINT(concurrency-mt-unsafe)
  tzset();
}

// Field report B30.
TEST(TtlRulesTest, RemainingSecondsAreRoundedUpAndEndAtZero) {
  EXPECT_EQ(RemainingSeconds(1010, 10, At(1000)), 10);
  EXPECT_EQ(RemainingSeconds(1010, 10, At(1000.001)), 10);
  EXPECT_EQ(RemainingSeconds(1010, 10, At(1009)), 1);
  EXPECT_EQ(RemainingSeconds(1010, 10, At(1009.6)), 1);
  EXPECT_EQ(RemainingSeconds(1010, 10, At(1009.999)), 1);
  EXPECT_EQ(RemainingSeconds(1010, 10, At(1010)), 0);
  EXPECT_EQ(RemainingSeconds(1010, 10, At(1010.001)), 0);
  EXPECT_EQ(RemainingSeconds(1010, 10, At(4610)), 0);
}

TEST(TtlRulesTest, RemainingSecondsDoNotWrap) {
  EXPECT_EQ(RemainingSeconds(kMaxInt64, kMaxTtl, absl::InfinitePast()), kMaxTtl);
  EXPECT_EQ(RemainingSeconds(kMaxInt64, kMaxTtl, absl::FromUnixSeconds(-1)), kMaxTtl);
  EXPECT_EQ(RemainingSeconds(kMaxInt64, kMaxTtl, absl::UnixEpoch()), kMaxTtl);
  EXPECT_EQ(RemainingSeconds(kMinInt64, kMaxTtl, absl::InfiniteFuture()), 0);
}

TEST(TtlRulesTest, LegalTtls) {
  for (const int64_t ttl : {int64_t{-1}, int64_t{1}, int64_t{86'400'000}, kMaxTtl}) {
    EXPECT_TRUE(IsLegalTtl(ttl)) << ttl;
    EXPECT_EQ(ValidateTtl("ttl", ttl), absl::OkStatus()) << ttl;
  }
  EXPECT_EQ(ValidateTtl("ttl", kAbsent), absl::OkStatus());
}

// Field reports B03 and B07.
TEST(TtlRulesTest, IllegalTtlsAreRefused) {
  for (const int64_t ttl :
       {int64_t{0}, int64_t{-2}, int64_t{-5}, kMaxTtl + 1, (int64_t{1} << 32) - 1,
        (int64_t{1} << 32) + 60, int64_t{86'400'000'000'000}, kMaxInt64, kMinInt64}) {
    const absl::Status status = ValidateTtl("items[3].ttl", ttl);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << ttl;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("items[3].ttl"), HasSubstr(std::to_string(ttl)), HasSubstr("-1"),
                      HasSubstr("2147483647")));
  }
}

TEST(TtlRulesTest, TsIsAtLeastOneAndAtMostADayAhead) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000) + absl::Milliseconds(500);
  EXPECT_FALSE(IsLegalTs(kMinInt64, now));
  EXPECT_FALSE(IsLegalTs(-1, now));
  EXPECT_FALSE(IsLegalTs(0, now));
  EXPECT_TRUE(IsLegalTs(1, now));
  EXPECT_TRUE(IsLegalTs(1'800'000'000, now));
  EXPECT_TRUE(IsLegalTs(1'800'086'400, now));
  EXPECT_FALSE(IsLegalTs(1'800'086'401, now));
  EXPECT_FALSE(IsLegalTs(1'800'000'000'000, now));
  EXPECT_FALSE(IsLegalTs(kMaxInt64, now));
}

TEST(TtlRulesTest, AnItemIsPossibleIfBothItsTimesAreLegal) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  EXPECT_TRUE(IsPossible({1'800'000'000, std::nullopt}, now));
  EXPECT_TRUE(IsPossible({1'800'086'400, 60}, now));
  EXPECT_TRUE(IsPossible({1, -1}, now));
  EXPECT_FALSE(IsPossible({1'800'086'401, 60}, now));
  EXPECT_FALSE(IsPossible({0, std::nullopt}, now));
  EXPECT_FALSE(IsPossible({1'800'000'000, 0}, now));
  EXPECT_FALSE(IsPossible({1'800'000'000, kMaxTtl + 1}, now));
}

TEST(TtlRulesTest, ExactlyADayAheadIsLegalAndAnInstantMoreIsNot) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  EXPECT_TRUE(IsLegalTs(1'800'086'400, now));
  EXPECT_FALSE(IsLegalTs(1'800'086'400, now - absl::Nanoseconds(1)));
}

TEST(TtlRulesTest, TsPast2038And2106IsLegalWhenItsTimeHasCome) {
  EXPECT_TRUE(IsLegalTs((int64_t{1} << 31) + 5, absl::FromUnixSeconds(int64_t{1} << 31)));
  EXPECT_TRUE(IsLegalTs((int64_t{1} << 32) + 5, absl::FromUnixSeconds(int64_t{1} << 32)));
}

TEST(TtlRulesTest, TsThatIsNotLegalIsRefusedByName) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  EXPECT_EQ(ValidateTs("ts", 1'800'000'000, now), absl::OkStatus());

  const absl::Status zero = ValidateTs("items[0].ts", 0, now);
  EXPECT_EQ(zero.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(zero.message()), AllOf(HasSubstr("items[0].ts is 0"), HasSubstr("1")));

  const absl::Status millis = ValidateTs("items[0].ts", 1'800'000'000'000, now);
  EXPECT_EQ(millis.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(millis.message()),
              AllOf(HasSubstr("items[0].ts is 1800000000000"), HasSubstr("24 hours ahead"),
                    HasSubstr("milliseconds")));
}

}  // namespace
}  // namespace ttl
