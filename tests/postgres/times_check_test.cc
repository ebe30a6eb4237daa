#include "client/postgres/sql/check/times_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/postgres/database_for_test.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SeenTimes Median(double seconds) {
  SeenTimes seen;
  seen.rows = seen.times = 10;
  seen.oldest = seen.median = seen.newest = seconds;
  return seen;
}

TEST(LikelyUnitTest, IsTheOneByWhichTimesAreOfTheseYears) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  constexpr auto kSeconds = EpochUnit::kSeconds;
  constexpr auto kMillis = EpochUnit::kMilliseconds;
  EXPECT_EQ(LikelyUnit(Median(1.7e9), kSeconds, now), std::nullopt);
  EXPECT_EQ(LikelyUnit(Median(1.7e12), kSeconds, now), kMillis);
  EXPECT_EQ(LikelyUnit(Median(1.7e9), kMillis, now), std::nullopt);
  EXPECT_EQ(LikelyUnit(Median(1.7e6), kMillis, now), kSeconds);
  // Of no year of ours in either: nothing is known.
  EXPECT_EQ(LikelyUnit(Median(1000), kSeconds, now), std::nullopt);
  EXPECT_EQ(LikelyUnit(Median(1.7e15), kSeconds, now), std::nullopt);
  EXPECT_EQ(LikelyUnit(SeenTimes(), kMillis, now), std::nullopt);
}

class TimesCheckTest : public testing::Test {
 protected:
  CatalogReport Check(EpochUnit unit, NullMeans null_means = NullMeans::kFault) {
    TableConfig table;
    table.container = "t";
    table.table = "t";
    table.id = {"id"};
    table.ts_column = "ts";
    table.ts_unit = unit;
    table.null_means = null_means;
    const Config config = db_.ConfigFor({table});
    CatalogReport report;
    for (const TableDefinition& definition : db_.Define(config)) {
      const absl::Status status = CheckTimes(db_.connection(), definition, absl::Now(), report);
      EXPECT_TRUE(status.ok()) << status;
    }
    return report;
  }

  DatabaseForTest db_;
};

TEST_F(TimesCheckTest, NumbersOfAnotherUnitAreAProblemThatNamesIt) {
  db_.Sql(
      "CREATE TABLE t (id bigint PRIMARY KEY, ts bigint NOT NULL);"
      "INSERT INTO t SELECT i, extract(epoch FROM now()) - i FROM generate_series(1, 20000) i;"
      "ANALYZE t");
  EXPECT_THAT(Check(EpochUnit::kSeconds).problems, IsEmpty());
  EXPECT_THAT(Check(EpochUnit::kMilliseconds).problems,
              ElementsAre(AllOf(HasSubstr("counts seconds, it seems"), HasSubstr("of 1970-01-"),
                                HasSubstr("; set ts_unit: seconds"))));
  db_.Sql("UPDATE t SET ts = ts * 1000");
  EXPECT_THAT(Check(EpochUnit::kMilliseconds).problems, IsEmpty());
  EXPECT_THAT(Check(EpochUnit::kSeconds).problems,
              ElementsAre(HasSubstr("; set ts_unit: milliseconds")));
}

TEST_F(TimesCheckTest, TimesAheadAndAround1970AreWarnedOf) {
  db_.Sql(
      "CREATE TABLE t (id bigint PRIMARY KEY, ts timestamptz) PARTITION BY HASH (id);"
      "CREATE TABLE t0 PARTITION OF t FOR VALUES WITH (MODULUS 1, REMAINDER 0);"
      "INSERT INTO t SELECT i, now() FROM generate_series(1, 100) i;"
      "INSERT INTO t VALUES (101, now() + interval '2 days'), (102, 'infinity'), (103, NULL),"
      "(104, '1970-01-02')");
  const CatalogReport report = Check(EpochUnit::kSeconds);
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("more than a day ahead in 2 of 103 rows"),
                                           HasSubstr("around 1970 in 1 of 103 rows")));
}

TEST_F(TimesCheckTest, NullsThatAreExpectedAreCountedAndNoWarning) {
  db_.Sql(
      "CREATE TABLE t (id bigint PRIMARY KEY, ts timestamptz);"
      "INSERT INTO t SELECT i, now() FROM generate_series(1, 7) i;"
      "INSERT INTO t SELECT i, NULL FROM generate_series(8, 10) i");
  const CatalogReport report = Check(EpochUnit::kSeconds, NullMeans::kNever);
  EXPECT_THAT(report.warnings, IsEmpty());
  EXPECT_THAT(report.notes, ElementsAre(AllOf(HasSubstr("column ts"),
                                              HasSubstr("is NULL in 3 of 10 rows seen"))));
  EXPECT_THAT(Check(EpochUnit::kSeconds).notes, IsEmpty());
}

class EndsCheckTest : public TimesCheckTest {
 protected:
  CatalogReport CheckEndsOf(const std::string& type, EpochUnit unit = EpochUnit::kSeconds) {
    TableConfig table;
    table.container = "t";
    table.table = "t";
    table.id = {"id"};
    table.expires_column = "ends";
    table.expires_unit = unit;
    if (type == "date") {
      table.expires_zone = "UTC";
      table.ends = DayEdge::kEnd;
    }
    CatalogReport report;
    for (const TableDefinition& definition : db_.Define(db_.ConfigFor({table}))) {
      const absl::Status status = CheckEnds(db_.connection(), definition, absl::Now(), report);
      EXPECT_TRUE(status.ok()) << status;
    }
    return report;
  }
};

TEST_F(EndsCheckTest, EndsThatAreNotLegalAreWarnedOfAndThoseThatAreNoneCounted) {
  for (const std::string type : {"timestamptz", "date"}) {
    db_.Sql(absl::StrCat(
        "DROP TABLE IF EXISTS t; CREATE TABLE t (id serial PRIMARY KEY, ends ", type,
        "); INSERT INTO t (ends) SELECT now() + i * interval '1 day' FROM generate_series(1, 5) i;"
        "INSERT INTO t (ends) VALUES (NULL), ('infinity'), ('-infinity'), ('1960-01-01'), "
        "('10000-01-01')"));
    const CatalogReport report = CheckEndsOf(type);
    EXPECT_THAT(report.problems, IsEmpty());
    EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("in 3 of 10 rows seen: such rows never")));
    EXPECT_THAT(report.notes,
                ElementsAre(HasSubstr("is NULL or infinity in 2 of 10 rows seen: such rows never "
                                      "expire")));
  }
}

TEST_F(EndsCheckTest, NumbersOfAnotherUnitAreAProblemThatNamesIt) {
  db_.Sql(
      "CREATE TABLE t (id bigint PRIMARY KEY, ends bigint);"
      "INSERT INTO t SELECT i, 1e9 * (1 + i / 50) FROM generate_series(1, 200) i");
  EXPECT_THAT(CheckEndsOf("bigint").problems, IsEmpty());
  EXPECT_THAT(CheckEndsOf("bigint", EpochUnit::kMilliseconds).problems,
              ElementsAre(AllOf(HasSubstr("counts seconds, it seems"),
                                HasSubstr("; set expires_unit: seconds"))));
  db_.Sql("UPDATE t SET ends = ends * 1000");
  EXPECT_THAT(CheckEndsOf("bigint").problems,
              ElementsAre(HasSubstr("; set expires_unit: milliseconds")));
  db_.Sql("UPDATE t SET ends = 0 WHERE id = 1");
  EXPECT_THAT(CheckEndsOf("bigint", EpochUnit::kMilliseconds).warnings,
              ElementsAre(HasSubstr("in 1 of 200 rows seen")));
}

TEST_F(TimesCheckTest, TableThatIsLockedHoldsUpNobody) {
  db_.Sql("CREATE TABLE t (id bigint PRIMARY KEY, ts timestamptz NOT NULL)");
  const auto other = db_.Connect();
  ASSERT_TRUE(other->Execute("BEGIN").ok());
  ASSERT_TRUE(other->Execute("LOCK TABLE t").ok());
  EXPECT_THAT(Check(EpochUnit::kSeconds).warnings,
              ElementsAre(HasSubstr("could not be looked at in time")));
  EXPECT_EQ(db_.Value("SHOW lock_timeout"), "0");
}

}  // namespace
}  // namespace ttl::postgres
