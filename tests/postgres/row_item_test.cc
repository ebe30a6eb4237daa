#include "client/postgres/row/row_item.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kNow = 1'700'000'000;
const absl::Time kNowTime = absl::FromUnixSeconds(kNow);

TableDefinition Table(TsSource source, EpochUnit unit = EpochUnit::kSeconds) {
  TableDefinition table;
  table.config.ts_unit = unit;
  table.ts_source = source;
  if (source != TsSource::kCommitTime) table.ts = ColumnDefinition{.name = "changed", .type = ""};
  table.ttl = ColumnDefinition{.name = "keep_for", .type = "integer"};
  table.size = ColumnDefinition{.name = "bytes", .type = "integer"};
  return table;
}

// A row of tenant eu with id 42 and nothing else.
RowTexts Row(std::optional<absl::string_view> ts) {
  RowTexts row;
  row.partition_key = {"eu"};
  row.id = {"42"};
  row.ts = ts;
  return row;
}

RowVersion CommittedAt(std::optional<absl::Time> time) {
  return {.xmin = "77", .lsn = 5, .commit_time = time};
}

absl::StatusOr<v1::Item> EpochItem(const RowTexts& row) {
  return RowToItem(Table(TsSource::kEpochNumber), row, CommittedAt({}), kNowTime);
}

std::string Refusal(const absl::StatusOr<v1::Item>& item) {
  EXPECT_EQ(item.status().code(), absl::StatusCode::kInvalidArgument) << item.status();
  return std::string(item.status().message());
}

TEST(RowItemTest, EveryColumnHasItsPlace) {
  RowTexts row = Row("1699999999");
  row.partition_key = {"eu", "a/b"};
  row.ttl = "60";
  row.size = "1234";
  const auto item = EpochItem(row);
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(item->partition_key(), R"(eu/a\/b)");
  EXPECT_EQ(item->id(), "42");
  EXPECT_EQ(item->ts(), 1699999999);
  EXPECT_EQ(item->ttl(), 60);
  EXPECT_EQ(item->size_bytes(), 1234);
  EXPECT_EQ(item->etag(), "77");
  EXPECT_EQ(item->sequence(), 5);
}

TEST(RowItemTest, WhatIsAbsentStaysAbsent) {
  RowTexts row = Row("1699999999");
  row.partition_key.clear();
  const auto item = RowToItem(Table(TsSource::kEpochNumber), row,
                              {.xmin = "", .lsn = 0, .commit_time = {}}, kNowTime);
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(item->partition_key(), "");
  EXPECT_FALSE(item->has_ttl());
  EXPECT_FALSE(item->has_sequence());
  EXPECT_EQ(item->size_bytes(), 0);
}

TEST(RowItemTest, TsIsWholeSecondsRoundedDown) {
  const struct {
    TsSource source;
    EpochUnit unit;
    const char* text;
    int64_t ts;
  } kCases[] = {
      {TsSource::kEpochNumber, EpochUnit::kSeconds, "1699999999", 1699999999},
      {TsSource::kEpochNumber, EpochUnit::kSeconds, "1", 1},
      {TsSource::kEpochNumber, EpochUnit::kMilliseconds, "1699999999999", 1699999999},
      {TsSource::kEpochNumber, EpochUnit::kMilliseconds, "1000", 1},
      {TsSource::kTimestamp, EpochUnit::kSeconds, "2023-11-14 22:13:19.999999+00", 1699999999},
      {TsSource::kTimestamp, EpochUnit::kSeconds, "1970-01-01 00:00:01+00", 1},
  };
  for (const auto& [source, unit, text, ts] : kCases) {
    const auto item = RowToItem(Table(source, unit), Row(text), {}, kNowTime);
    ASSERT_TRUE(item.ok()) << text << item.status();
    EXPECT_EQ(item->ts(), ts) << text;
  }
}

TEST(RowItemTest, TsThatTheRulesForbidIsRefusedWithColumnAndValue) {
  const struct {
    TsSource source;
    EpochUnit unit;
    const char* text;
    const char* shown;
  } kCases[] = {
      {TsSource::kEpochNumber, EpochUnit::kSeconds, "0", "is 0"},
      {TsSource::kEpochNumber, EpochUnit::kSeconds, "-1", "is -1"},
      {TsSource::kEpochNumber, EpochUnit::kSeconds, "1699999999000", "in milliseconds"},
      {TsSource::kEpochNumber, EpochUnit::kSeconds, "99999999999999999999", "not a 64-bit integer"},
      {TsSource::kEpochNumber, EpochUnit::kSeconds, "1.5", "\"1.5\" is not a 64-bit integer"},
      {TsSource::kEpochNumber, EpochUnit::kMilliseconds, "999", "is 0"},
      {TsSource::kEpochNumber, EpochUnit::kMilliseconds, "-1", "is -1"},
      {TsSource::kEpochNumber, EpochUnit::kMilliseconds, "-1000", "is -1"},
      {TsSource::kEpochNumber, EpochUnit::kMilliseconds, "-1001", "is -2"},
      {TsSource::kTimestamp, EpochUnit::kSeconds, "infinity", "\"infinity\""},
      {TsSource::kTimestamp, EpochUnit::kSeconds, "1970-01-01 00:00:00.5+00", "is 0"},
      {TsSource::kTimestamp, EpochUnit::kSeconds, "1969-12-31 23:59:59.5+00", "is -1"},
      {TsSource::kTimestamp, EpochUnit::kSeconds, "2100-01-01 00:00:00+00", "hours ahead"},
  };
  for (const auto& [source, unit, text, shown] : kCases) {
    EXPECT_THAT(Refusal(RowToItem(Table(source, unit), Row(text), {}, kNowTime)),
                AllOf(HasSubstr("column changed (_ts)"), HasSubstr(shown)))
        << text;
  }
  EXPECT_THAT(Refusal(EpochItem(Row(std::nullopt))), HasSubstr("column changed (_ts) is NULL"));
}

TEST(RowItemTest, TsMayBeADayAheadAndNoMore) {
  EXPECT_TRUE(EpochItem(Row(absl::StrCat(kNow + 86400))).ok());
  EXPECT_THAT(Refusal(EpochItem(Row(absl::StrCat(kNow + 86401)))), HasSubstr("24 hours ahead"));
}

TEST(RowItemTest, CommitTimeStandsInForAColumn) {
  const TableDefinition table = Table(TsSource::kCommitTime);
  const auto item = RowToItem(table, Row(std::nullopt),
                              CommittedAt(kNowTime + absl::Milliseconds(999)), kNowTime);
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(item->ts(), kNow);
  EXPECT_THAT(Refusal(RowToItem(table, Row(std::nullopt), CommittedAt({}), kNowTime)),
              HasSubstr("commit is no longer known"));
  EXPECT_THAT(Refusal(RowToItem(table, Row(std::nullopt), CommittedAt(kNowTime + absl::Hours(25)),
                                kNowTime)),
              HasSubstr("the time of the row's commit is 1700090000"));
}

TEST(RowItemTest, TtlIsWhatTheRulesAllow) {
  RowTexts row = Row("1699999999");
  for (const char* ttl : {"-1", "1", "2147483647"}) {
    row.ttl = ttl;
    const auto item = EpochItem(row);
    ASSERT_TRUE(item.ok()) << ttl << item.status();
    EXPECT_EQ(absl::StrCat(item->ttl()), ttl);
  }
  for (const char* ttl :
       {"0", "-2", "2147483648", "-9223372036854775808", "9223372036854775808", "1.0", "", " 1"}) {
    row.ttl = ttl;
    EXPECT_THAT(Refusal(EpochItem(row)), HasSubstr("column keep_for (ttl)")) << ttl;
  }
}

TEST(RowItemTest, KeysHaveTheLimitsOfTheSidecar) {
  RowTexts row = Row("1699999999");
  const std::string id(1023, 'x');
  const std::string partition_key(2048, 'x');
  row.id = {id};
  row.partition_key = {partition_key};
  EXPECT_TRUE(EpochItem(row).ok());
  row.id = {id, ""};
  EXPECT_THAT(Refusal(EpochItem(row)), HasSubstr("the id has 1024 bytes: must have 1023"));
  row.id = {""};
  EXPECT_TRUE(EpochItem(row).ok());
  row.partition_key = {partition_key, ""};
  EXPECT_THAT(Refusal(EpochItem(row)), HasSubstr("the partition key has 2049 bytes"));
}

TEST(RowItemTest, SizeThatCannotBeOneIsNotKnown) {
  RowTexts row = Row("1699999999");
  for (const char* size : {"-1", "x", "9223372036854775808", "0"}) {
    row.size = size;
    const auto item = EpochItem(row);
    ASSERT_TRUE(item.ok()) << size << item.status();
    EXPECT_EQ(item->size_bytes(), 0) << size;
  }
}

// What is reported, the sidecar accepts; what is not, it would refuse.
RC_GTEST_PROP(RowItemProperty, AgreesWithTheTtlRules, ()) {
  const auto edge = [](std::vector<int64_t> edges) {
    return rc::gen::oneOf(
        rc::gen::arbitrary<int64_t>(),
        rc::gen::map(rc::gen::pair(rc::gen::elementOf(edges), rc::gen::inRange<int64_t>(-2, 3)),
                     [](const auto& at) { return at.first + at.second; }));
  };
  const ItemTimes times = {.ts = *edge({0, kNow, kNow + 86400}), .ttl = *edge({0, kMaxTtl})};
  const std::string ts = absl::StrCat(times.ts);
  const std::string ttl = absl::StrCat(*times.ttl);
  RowTexts row = Row(ts);
  row.ttl = ttl;
  const auto item = EpochItem(row);
  RC_ASSERT(item.ok() == IsPossible(times, kNowTime));
  if (item.ok()) RC_ASSERT(item->ts() == times.ts && item->ttl() == *times.ttl);
}

TEST(ParseTimestampTest, ReadsUtcInIsoStyle) {
  const struct {
    const char* text;
    int64_t seconds;
  } kCases[] = {
      {"1970-01-01 00:00:00+00", 0},
      {"1969-12-31 23:59:59+00", -1},
      {"1969-12-31 23:59:59.999999+00", -1},
      {"2000-02-29 12:34:56.7+00", 951827696},
      {"0001-01-01 00:00:00+00", -62135596800},
      {"10000-01-01 00:00:00+00", 253402300800},
      {"294276-12-31 23:59:59.999999+00", 9224318015999},
  };
  for (const auto& [text, seconds] : kCases) {
    const auto parsed = ParseTimestamp(text);
    ASSERT_TRUE(parsed.ok()) << text << parsed.status();
    EXPECT_EQ(*parsed, seconds) << text;
  }
}

TEST(ParseTimestampTest, WhatIsNoTimeIsRefused) {
  for (const char* text :
       {"", "infinity", "-infinity", "0044-03-15 00:00:00+00 BC", "2023-02-29 00:00:00+00",
        "2023-13-01 00:00:00+00", "2023-01-01 24:00:00+00", "2023-01-01 00:00:60+00",
        "2023-01-01 00:00:00", "2023-01-01 00:00:00+05:45", "2023-01-01 00:00:00-00",
        "2023-01-01T00:00:00+00", "2023-01-01 00:00:00.+00", "2023-01-01 00:00:00.1234567+00",
        "2023-1-1 00:00:00+00", "2023-01-01 00:00:00+00 ", "9999999-01-01 00:00:00+00",
        "01/02/2023 00:00:00 UTC"}) {
    EXPECT_EQ(ParseTimestamp(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace ttl::postgres
