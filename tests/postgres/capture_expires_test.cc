// Tables with an expires_column: what is reported of their rows, and of changes of that column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/postgres/capture_fixture.h"

namespace ttl::postgres {
namespace {

using testing::ElementsAre;

class CaptureExpiresTest : public CaptureFixture {
 protected:
  CaptureExpiresTest() {
    Sql("CREATE TABLE tokens (id bigint PRIMARY KEY, ends timestamptz, ts timestamptz, ttl int, "
        "day date, wall timestamp)");
  }

  static TableConfig Tokens() {
    TableConfig table;
    table.container = "tokens";
    table.table = "tokens";
    table.id = {"id"};
    table.expires_column = "ends";
    return table;
  }

  // "id|ts|ttl|expire_at" of each.
  std::vector<std::string> Ends() {
    std::vector<std::string> lines;
    for (const v1::Item& item : capture_.Items("tokens")) {
      lines.push_back(absl::StrCat(item.id(), "|", item.ts(), "|",
                                   item.has_ttl() ? absl::StrCat(item.ttl()) : "", "|",
                                   item.has_expire_at() ? absl::StrCat(item.expire_at()) : ""));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

TEST_F(CaptureExpiresTest, ScanAndStreamReportTheEnd) {
  Sql("INSERT INTO tokens (id, ends) VALUES (1, to_timestamp(2000000000.5)), (2, NULL), "
      "(3, 'infinity'), (4, '-infinity'), (5, to_timestamp(5))");
  capture_.Begin({Tokens()});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("1|1||2000000001", "2|1|-1|", "3|1|-1|", "5|1||5"));
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 1);
  Sql("INSERT INTO tokens (id, ends) SELECT id + 10, ends FROM tokens");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("11|1||2000000001", "12|1|-1|", "13|1|-1|", "15|1||5",
                                  "1|1||2000000001", "2|1|-1|", "3|1|-1|", "5|1||5"));
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 2);
}

// Earlier, later, and none at all: `_ts` is the same each time, and the later version counts.
TEST_F(CaptureExpiresTest, ChangeOfTheEndAloneIsAChange) {
  Sql("INSERT INTO tokens (id, ends) VALUES (1, to_timestamp(2000000000))");
  capture_.Begin({Tokens()});
  for (const std::string end : {"2000000500", "2000000100", "2000000101", "3"}) {
    Sql(absl::StrCat("UPDATE tokens SET ends = to_timestamp(", end, ")"));
    ASSERT_TRUE(capture_.CatchUp());
    EXPECT_THAT(Ends(), ElementsAre(absl::StrCat("1|1||", end)));
  }
  Sql("UPDATE tokens SET ends = NULL");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("1|1|-1|"));
  // What is no end is not tracked, and what has become one again is.
  Sql("UPDATE tokens SET ends = '1960-01-01'");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre());
  Sql("UPDATE tokens SET ends = to_timestamp(7)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("1|1||7"));
}

TEST_F(CaptureExpiresTest, EndIsReportedBesideTsAndTtl) {
  TableConfig table = Tokens();
  table.ts_column = "ts";
  table.ttl_column = "ttl";
  table.expires_null = NullEnd::kInherits;
  capture_.Begin({table});
  Sql("INSERT INTO tokens (id, ends, ts, ttl) VALUES (1, to_timestamp(9), to_timestamp(2), 5), "
      "(2, NULL, to_timestamp(2), NULL), (3, 'infinity', to_timestamp(2), NULL), "
      "(4, NULL, to_timestamp(2), 5), (5, to_timestamp(9), NULL, 5)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("1|2|5|9", "2|2||", "3|2|-1|", "4|2|5|"));
}

TEST_F(CaptureExpiresTest, DatesAndReadingsAreInstantsOfTheirZone) {
  Sql("INSERT INTO tokens (id, day, wall) VALUES (1, '2025-10-26', '2025-10-26 02:30:00.5')");
  const std::string insert =
      "INSERT INTO tokens (id, day, wall) VALUES (2, '2025-10-26', '2025-10-26 02:30:00.5')";
  TableConfig table = Tokens();
  table.expires_zone = "Europe/Berlin";
  table.expires_column = "wall";
  capture_.Begin({table});
  Sql(insert);
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("1|1||1761442201", "2|1||1761442201"));
  capture_.Stop();
  // Another column is another table: it is read again.
  table.expires_column = "day";
  for (const auto& [edge, end] :
       {std::pair{DayEdge::kStart, "1761429600"}, {DayEdge::kEnd, "1761519600"}}) {
    table.ends = edge;
    capture_.Install({table});
    capture_.Start();
    ASSERT_TRUE(capture_.CatchUp());
    EXPECT_THAT(Ends(), ElementsAre(absl::StrCat("1|1||", end), absl::StrCat("2|1||", end)));
    capture_.Stop();
  }
}

TEST_F(CaptureExpiresTest, RowsThatEnterAndLeaveAConditionAreReportedWithTheirEnd) {
  Sql("INSERT INTO tokens (id, ends, ttl) VALUES (1, to_timestamp(5), 1), (2, to_timestamp(6), 0), "
      "(3, NULL, 1)");
  TableConfig table = Tokens();
  table.where = "ttl = 1";
  capture_.Begin({table});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("1|1||5", "3|1|-1|"));
  Sql("UPDATE tokens SET ttl = 1 - ttl");
  Sql("UPDATE tokens SET ends = to_timestamp(7) WHERE id = 2");
  Sql("UPDATE tokens SET ends = to_timestamp(8) WHERE id = 1");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("2|1||7"));
  Sql("UPDATE tokens SET ttl = 1 WHERE id = 1");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Ends(), ElementsAre("1|1||8", "2|1||7"));
}

}  // namespace
}  // namespace ttl::postgres
