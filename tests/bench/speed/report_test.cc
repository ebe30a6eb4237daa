#include "tests/bench/speed/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ttl::bench {
namespace {

using testing::HasSubstr;

Row ExampleRow() {
  Row row;
  row.name = "check-1";
  row.work = "one key \"hot\"";
  row.unit = "calls/s";
  row.ours = {90000, 100000, 110000};
  row.comparisons.push_back({"bare echo",
                             {100000, 125000, 126000},
                             {0.75, 0.8, 0.95},
                             Target{Target::Kind::kAtLeast, 0.9}});
  row.comparisons.push_back({"redis", {1, 2, 3}, {1, 2, 3}, std::nullopt});
  row.note = "the server saturates";
  return row;
}

Comparison WithRatio(double median, Target target) {
  Comparison other;
  other.ratio = {0, median, 100};
  other.target = target;
  return other;
}

TEST(ComparisonTest, IsMetByTheMedianInTheRightDirection) {
  EXPECT_EQ(WithRatio(0.9, {Target::Kind::kAtLeast, 0.9}).Met(), true);
  EXPECT_EQ(WithRatio(0.89, {Target::Kind::kAtLeast, 0.9}).Met(), false);
  EXPECT_EQ(WithRatio(1.1, {Target::Kind::kAtMost, 1.1}).Met(), true);
  EXPECT_EQ(WithRatio(1.2, {Target::Kind::kAtMost, 1.1}).Met(), false);
}

TEST(ComparisonTest, WithoutATargetIsNeitherMetNorMissed) {
  EXPECT_EQ(Comparison().Met(), std::nullopt);
}

TEST(TableTest, HasOneLinePerComparison) {
  const std::string table = ToTable({ExampleRow()});
  EXPECT_THAT(table, HasSubstr("| 100k | bare echo | 125k   | 0.75-0.80-0.95 | >= 0.9 | NO  |"));
  EXPECT_THAT(table, HasSubstr("| 100k | redis     | 2      | 1.00-2.00-3.00 |        |     |"));
  EXPECT_THAT(table, HasSubstr("check-1: the server saturates"));
}

TEST(TableTest, HasNoVerdictOnADisturbedRow) {
  Row row = ExampleRow();
  row.disturbance = "no verdict: a compiler ran";
  const std::string table = ToTable({row});
  EXPECT_THAT(table, HasSubstr("| >= 0.9 | busy |"));
  EXPECT_THAT(table, HasSubstr("check-1: no verdict: a compiler ran"));
}

TEST(TableTest, ShowsARowThatIsComparedWithNothing) {
  Row row = ExampleRow();
  row.comparisons.clear();
  EXPECT_THAT(ToTable({row}), HasSubstr("| 100k |"));
}

TEST(JsonTest, HoldsAllThatTheTableHas) {
  const nlohmann::json json =
      nlohmann::json::parse(ToJson({"2026-01-02T03:04:05Z", "2 cores", 5, 1.5}, {ExampleRow()}));
  EXPECT_EQ(json["started"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(json["machine"], "2 cores");
  EXPECT_EQ(json["rounds"], 5);
  EXPECT_EQ(json["window_seconds"], 1.5);
  const nlohmann::json& row = json["rows"][0];
  EXPECT_EQ(row["work"], "one key \"hot\"");
  EXPECT_EQ(row["ours"]["median"], 100000);
  EXPECT_EQ(row["comparisons"][0]["ratio"]["max"], 0.95);
  EXPECT_EQ(row["comparisons"][0]["target"], ">= 0.9");
  EXPECT_EQ(row["comparisons"][0]["met"], false);
}

TEST(JsonTest, HasNoVerdictOnADisturbedRow) {
  Row row = ExampleRow();
  row.disturbance = "no verdict: a compiler ran";
  const nlohmann::json json = nlohmann::json::parse(ToJson({}, {row}))["rows"][0];
  EXPECT_EQ(json["disturbance"], "no verdict: a compiler ran");
  EXPECT_EQ(json["comparisons"][0]["target"], ">= 0.9");
  EXPECT_FALSE(json["comparisons"][0].contains("met"));
}

TEST(JsonTest, SaysNothingOfATargetThatThereIsNot) {
  const nlohmann::json json = nlohmann::json::parse(ToJson({}, {ExampleRow()}));
  EXPECT_FALSE(json["rows"][0]["comparisons"][1].contains("target"));
  EXPECT_FALSE(json["rows"][0]["comparisons"][1].contains("met"));
}

}  // namespace
}  // namespace ttl::bench
