#include "client/postgres/capture/stream/row_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/capture/stream/relation_map.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint32_t kOid = 16384;
const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const StreamedTransaction kTransaction = {
    .lsn = 500, .xid = "77", .commit_time = absl::FromUnixSeconds(1'700'000'000)};

TableDefinition Orders() {
  TableDefinition table;
  table.config.container = "orders";
  table.config.table = "orders";
  table.oid = kOid;
  table.partition_key = {{"tenant", "text"}};
  table.id = {{"id", "bigint"}};
  table.ts_source = TsSource::kEpochNumber;
  table.ts = ColumnDefinition{"ts", "bigint"};
  table.ttl = ColumnDefinition{"ttl", "integer"};
  return table;
}

ColumnTypes Types() { return {{"tenant", {25}}, {"id", {20}}, {"ts", {20}}, {"ttl", {23}}}; }

RelationMessage Relation() {
  RelationMessage relation;
  relation.oid = kOid;
  relation.schema = "public";
  relation.table = "orders";
  relation.columns = {{true, "id", 20},
                      {false, "note", 25},
                      {true, "tenant", 25},
                      {false, "ts", 20},
                      {false, "ttl", 23}};
  return relation;
}

// "NULL" and "unchanged" are what they say.
Tuple Row(const std::vector<const char*>& texts) {
  Tuple row;
  for (const char* text : texts) {
    if (text == nullptr) {
      row.push_back({ColumnValue::Kind::kNull, {}});
    } else if (absl::string_view(text) == "unchanged") {
      row.push_back({ColumnValue::Kind::kUnchanged, {}});
    } else {
      row.push_back({ColumnValue::Kind::kText, text});
    }
  }
  return row;
}

// "+eu/1 ts=5 ttl=9", "-eu/1".
std::string Summary(const absl::StatusOr<RowReports>& reports) {
  if (!reports.ok()) return reports.status().ToString();
  return absl::StrJoin(reports->reports, " ", [](std::string* out, const Report& report) {
    const v1::Item& item = report.item;
    absl::StrAppend(out, report.is_gone ? "-" : "+", item.partition_key(), "/", item.id());
    if (report.is_gone) return;
    absl::StrAppend(out, " ts=", item.ts());
    if (item.has_ttl()) absl::StrAppend(out, " ttl=", item.ttl());
  });
}

class RowChangeTest : public testing::Test {
 protected:
  RowChangeTest() { EXPECT_TRUE(map_.Describe(Relation()).ok()); }

  const StreamedTable& table() const { return *map_.Find(kOid); }

  std::string Insert(const std::vector<const char*>& row) {
    return Summary(ReportInsert(table(), {kOid, Row(row)}, kTransaction, kNow));
  }
  std::string Update(const std::optional<std::vector<const char*>>& old_row,
                     const std::vector<const char*>& row) {
    UpdateMessage message{kOid, std::nullopt, Row(row)};
    if (old_row.has_value()) message.old_row = Row(*old_row);
    return Summary(ReportUpdate(table(), message, kTransaction, kNow));
  }
  std::string Delete(const std::vector<const char*>& old_row) {
    return Summary(ReportDelete(table(), {kOid, Row(old_row)}, kTransaction));
  }

  std::vector<TableDefinition> definitions_ = {Orders()};
  RelationMap map_{definitions_, {Types()}};
};

TEST_F(RowChangeTest, InsertIsTrackedInTheVersionThatCommitted) {
  const auto reports =
      ReportInsert(table(), {kOid, Row({"1", "x", "eu", "5", "9"})}, kTransaction, kNow);
  ASSERT_TRUE(reports.ok());
  ASSERT_EQ(reports->reports.size(), 1u);
  const v1::Item& item = reports->reports[0].item;
  EXPECT_EQ(item.partition_key(), "eu");
  EXPECT_EQ(item.id(), "1");
  EXPECT_EQ(item.ts(), 5);
  EXPECT_EQ(item.ttl(), 9);
  EXPECT_EQ(item.etag(), "77");
  EXPECT_EQ(item.sequence(), 500u);
}

TEST_F(RowChangeTest, UpdateOfTheSameKeyIsTracked) {
  EXPECT_EQ(Update(std::nullopt, {"1", "x", "eu", "5", nullptr}), "+eu/1 ts=5");
  EXPECT_EQ(Update({{"1", "w", "eu", "4", nullptr}}, {"1", "x", "eu", "5", nullptr}), "+eu/1 ts=5");
}

TEST_F(RowChangeTest, UpdateOfTheKeyForgetsTheOldOneFirst) {
  EXPECT_EQ(Update({{"1", nullptr, "eu", nullptr, nullptr}}, {"1", "x", "us", "5", nullptr}),
            "-eu/1 +us/1 ts=5");
}

TEST_F(RowChangeTest, DeleteForgetsTheKey) {
  EXPECT_EQ(Delete({"1", nullptr, "eu", nullptr, nullptr}), "-eu/1");
}

TEST_F(RowChangeTest, RowThatCannotBeTrackedIsForgotten) {
  const auto reports =
      ReportInsert(table(), {kOid, Row({"1", "x", "eu", nullptr, "9"})}, kTransaction, kNow);
  EXPECT_EQ(Summary(reports), "-eu/1");
  EXPECT_FALSE(reports->untrackable.ok());
  EXPECT_EQ(Insert({"1", "x", "eu", "5", "0"}), "-eu/1");
  EXPECT_EQ(Update({{"1", nullptr, "eu", nullptr, nullptr}}, {"2", "x", "eu", "5", "0"}),
            "-eu/1 -eu/2");
}

TEST_F(RowChangeTest, KeyThatIsTooLongWasNeverTracked) {
  const std::string long_text(3000, 'x');
  const auto reports = ReportInsert(
      table(), {kOid, Row({"1", "x", long_text.c_str(), "5", nullptr})}, kTransaction, kNow);
  EXPECT_EQ(Summary(reports), "");
  EXPECT_FALSE(reports->untrackable.ok());
  EXPECT_EQ(Delete({"1", nullptr, long_text.c_str(), nullptr, nullptr}), "");
  EXPECT_EQ(
      Update({{"1", nullptr, long_text.c_str(), nullptr, nullptr}}, {"1", "x", "eu", "5", nullptr}),
      "+eu/1 ts=5");
}

TEST_F(RowChangeTest, ValueStoredOutOfLineIsTakenFromTheRowBefore) {
  EXPECT_EQ(Update({{"1", nullptr, "eu", nullptr, nullptr}}, {"1", "x", "unchanged", "5", nullptr}),
            "+eu/1 ts=5");
}

TEST_F(RowChangeTest, ValueThatIsNowhereNamesReplicaIdentity) {
  EXPECT_THAT(Update(std::nullopt, {"1", "x", "unchanged", "5", nullptr}),
              AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("\"tenant\""),
                    HasSubstr("REPLICA IDENTITY")));
  EXPECT_THAT(Delete({"1", nullptr, nullptr, nullptr, nullptr}),
              AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("\"tenant\""),
                    HasSubstr("REPLICA IDENTITY")));
}

TEST_F(RowChangeTest, UnusedColumnsMayBeAnything) {
  EXPECT_EQ(Update(std::nullopt, {"1", "unchanged", "eu", "5", nullptr}), "+eu/1 ts=5");
}

TEST_F(RowChangeTest, RowOfOtherWidthIsRefused) {
  EXPECT_THAT(Insert({"1", "x", "eu", "5"}), HasSubstr("DATA_LOSS"));
  EXPECT_THAT(Delete({"1"}), HasSubstr("DATA_LOSS"));
}

TEST_F(RowChangeTest, NullKeyIsNoKey) {
  definitions_[0].publishes_all_columns = true;
  const auto reports =
      ReportInsert(table(), {kOid, Row({"1", "x", nullptr, "5", nullptr})}, kTransaction, kNow);
  EXPECT_EQ(Summary(reports), "");
  EXPECT_FALSE(reports->untrackable.ok());
  EXPECT_EQ(Delete({"1", "x", nullptr, "5", nullptr}), "");
}

TEST(RowChangeCommitTimeTest, CommitTimeIsTheTs) {
  std::vector<TableDefinition> definitions = {Orders()};
  definitions[0].ts_source = TsSource::kCommitTime;
  definitions[0].ts.reset();
  RelationMap map(definitions, {Types()});
  ASSERT_TRUE(map.Describe(Relation()).ok());
  EXPECT_EQ(Summary(ReportInsert(*map.Find(kOid), {kOid, Row({"1", "x", "eu", "5", nullptr})},
                                 kTransaction, kNow)),
            "+eu/1 ts=1700000000");
}

class RelationMapTest : public testing::Test {
 protected:
  std::string Describe(const RelationMessage& relation) {
    const absl::Status status = map_.Describe(relation);
    EXPECT_EQ(map_.Find(kOid)->fit, status);
    return status.ToString();
  }

  std::vector<TableDefinition> definitions_ = {Orders()};
  RelationMap map_{definitions_, {Types()}};
};

TEST_F(RelationMapTest, TablesOfOthersAreIgnored) {
  RelationMessage relation = Relation();
  relation.oid = 1;
  EXPECT_TRUE(map_.Describe(relation).ok());
  EXPECT_EQ(map_.Find(1), nullptr);
}

TEST_F(RelationMapTest, RowsBeforeTheDescriptionCannotBeRead) {
  EXPECT_EQ(map_.Find(kOid)->fit.code(), absl::StatusCode::kDataLoss);
}

TEST_F(RelationMapTest, UnusedColumnsMayComeAndGo) {
  RelationMessage relation = Relation();
  relation.columns.erase(relation.columns.begin() + 1);
  relation.columns.insert(relation.columns.begin(), {false, "other", 16});
  EXPECT_EQ(Describe(relation), "OK");
}

TEST_F(RelationMapTest, EverythingThatDoesNotFitIsNamed) {
  RelationMessage relation = Relation();
  relation.table = "sales";
  relation.columns[0].type_oid = 23;
  relation.columns[3].name = "changed";
  EXPECT_THAT(Describe(relation),
              AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("public.orders"),
                    HasSubstr("container \"orders\""), HasSubstr("public.sales"),
                    HasSubstr("\"id\" is not of type bigint"), HasSubstr("no column \"ts\"")));
  EXPECT_EQ(Describe(Relation()), "OK");
}

TEST_F(RelationMapTest, OtherTypeModifierIsAnotherType) {
  RelationMessage relation = Relation();
  relation.columns[2].type_modifier = 24;
  EXPECT_THAT(Describe(relation), HasSubstr("\"tenant\" is not of type text"));
}

}  // namespace
}  // namespace ttl::postgres
