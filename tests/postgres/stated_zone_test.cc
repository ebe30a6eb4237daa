// Instants of timestamps without time zone: ours against the server's.
#include "client/postgres/sql/stated_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "client/postgres/row/row_item.h"
#include "client/postgres/sql/connect/array_text.h"
#include "tests/postgres/database_for_test.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

StatedZone Zone(const std::string& name) {
  const absl::StatusOr<StatedZone> zone = StatedZone::Load(name);
  EXPECT_TRUE(zone.ok()) << zone.status();
  return *zone;
}

// What a clock shows around every change of its offset from 1970 to 2100.
std::vector<absl::CivilSecond> ReadingsAroundTransitions(const std::string& name) {
  absl::TimeZone zone;
  EXPECT_TRUE(absl::LoadTimeZone(name, &zone)) << name;
  std::vector<absl::CivilSecond> readings;
  absl::Time at = absl::UnixEpoch();
  absl::TimeZone::CivilTransition turn;
  while (at < absl::FromUnixSeconds(4'102'444'800) && zone.NextTransition(at, &turn)) {
    for (const absl::CivilSecond& second : {turn.from, turn.to}) {
      for (const int64_t beside :
           {-7200, -3600, -1801, -1800, -1, 0, 1, 899, 1799, 1800, 3599, 3600, 7200, 86400}) {
        readings.push_back(second + beside);
      }
    }
    at = zone.At(std::min(turn.from, turn.to)).trans;
    if (turn.to > turn.from) at = zone.At(turn.from).trans;
  }
  return readings;
}

std::string TextOf(const absl::CivilSecond& reading) {
  std::string text = absl::FormatCivilTime(reading);
  text[text.find('T')] = ' ';
  return text;
}

std::vector<int64_t> InstantsByServer(DatabaseForTest& database, const StatedZone& zone,
                                      const std::vector<absl::CivilSecond>& readings) {
  ArrayText texts;
  for (const absl::CivilSecond& reading : readings) texts.Add(TextOf(reading));
  const auto result = database.connection().Query(
      absl::StrCat("SELECT extract(epoch FROM ", zone.At("d"),
                   ")::bigint FROM unnest($1::timestamp[]) WITH ORDINALITY AS u(d, n) ORDER BY n"),
      {texts.Take()});
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<int64_t> instants;
  for (int row = 0; row < result->rows(); ++row) instants.push_back(result->Number(row, 0));
  return instants;
}

TEST(StatedZoneTest, AgreesWithTheServerAroundEveryTransition) {
  DatabaseForTest database;
  // Half an hour of daylight saving, a negative one, two hours, one that a month suspends, a day
  // that was left out, changes of the offset itself.
  for (const char* name :
       {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin",
        "Antarctica/Troll", "Africa/Casablanca", "Pacific/Apia", "America/Sao_Paulo",
        "Europe/Moscow", "Asia/Kathmandu", "Asia/Pyongyang", "America/Caracas"}) {
    SCOPED_TRACE(name);
    const StatedZone zone = Zone(name);
    const std::vector<absl::CivilSecond> readings = ReadingsAroundTransitions(name);
    const std::vector<int64_t> instants = InstantsByServer(database, zone, readings);
    ASSERT_THAT(instants, SizeIs(readings.size()));
    EXPECT_GE(readings.size(), 28u);
    for (size_t i = 0; i < readings.size(); ++i) {
      ASSERT_EQ(zone.InstantOf(readings[i]), instants[i]) << TextOf(readings[i]);
      ASSERT_EQ(*ParseReading(absl::StrCat(TextOf(readings[i]), ".999999"), zone), instants[i]);
    }
  }
}

TEST(StatedZoneTest, FixedOffsetsAreEastOfGreenwichForBoth) {
  DatabaseForTest database;
  const std::vector<absl::CivilSecond> readings = {absl::CivilSecond(2026, 7, 1, 12, 0, 0),
                                                   absl::CivilSecond(1970, 1, 1, 0, 0, 0)};
  for (const char* name :
       {"UTC", "+02:00", "-05:30", "+00:00", "+14:00", "-00:45", "Etc/GMT-3", "Etc/UTC"}) {
    SCOPED_TRACE(name);
    const StatedZone zone = Zone(name);
    EXPECT_TRUE(zone.is_fixed());
    const std::vector<int64_t> instants = InstantsByServer(database, zone, readings);
    for (size_t i = 0; i < readings.size(); ++i) {
      EXPECT_EQ(zone.InstantOf(readings[i]), instants[i]);
    }
  }
  EXPECT_EQ(Zone("+02:00").InstantOf(readings[1]), -7200);
  EXPECT_EQ(Zone("Etc/GMT-3").InstantOf(readings[1]), -3 * 3600);
  EXPECT_FALSE(Zone("Europe/Berlin").is_fixed());
}

TEST(StatedZoneTest, LaterOfTwoInstantsCounts) {
  const StatedZone berlin = Zone("Europe/Berlin");
  // 02:30 was there twice: at 00:30 and at 01:30 UTC.
  EXPECT_EQ(berlin.InstantOf(absl::CivilSecond(2026, 10, 25, 2, 30, 0)),
            absl::ToUnixSeconds(
                absl::FromCivil(absl::CivilSecond(2026, 10, 25, 1, 30, 0), absl::UTCTimeZone())));
  // And here never: by the offset before it is 01:30 UTC, by that after 00:30.
  EXPECT_EQ(berlin.InstantOf(absl::CivilSecond(2026, 3, 29, 2, 30, 0)),
            absl::ToUnixSeconds(
                absl::FromCivil(absl::CivilSecond(2026, 3, 29, 1, 30, 0), absl::UTCTimeZone())));
}

TEST(StatedZoneTest, WhatIsNoZoneIsRefusedWithWhatWouldBeRight) {
  for (const char* name :
       {"", "Europe/Berlim", "europe/berlin", "localtime", "/etc/localtime", "../zoneinfo/UTC",
        "Fixed/UTC+02:00:00", "+2", "+02:60", "+16:00", "02:00", "UTC'; SELECT 1 --"}) {
    SCOPED_TRACE(name);
    const absl::StatusOr<StatedZone> zone = StatedZone::Load(name);
    ASSERT_TRUE(absl::IsInvalidArgument(zone.status()));
    EXPECT_THAT(std::string(zone.status().message()), HasSubstr(absl::StrCat("\"", name, "\"")));
    EXPECT_THAT(std::string(zone.status().message()), HasSubstr("such as Europe/Berlin"));
  }
}

}  // namespace
}  // namespace ttl::postgres
