// The logical message by which readers of the WAL tell the changes of TTL from those of the
// application, as test_decoding shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/install/installation.h"
#include "tests/postgres/groups_for_test.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kRevoke[] =
    "REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC";

// "DELETE sessions" or "INSERT ttl.condemned" of a change, the content of a message, and other
// lines as they are.
std::string Short(absl::string_view line) {
  if (absl::StartsWith(line, "message: transactional: 1 prefix: ttl-postgres,")) {
    return std::string(line.substr(line.find("content:") + 8));
  }
  if (!absl::ConsumePrefix(&line, "table ")) return std::string(line);
  const std::vector<std::string> parts = absl::StrSplit(line, ": ");
  return absl::StrCat(parts[1], " ", absl::StripPrefix(parts[0], "public."));
}

class WalMessageTest : public testing::Test {
 protected:
  ~WalMessageTest() override {
    db_.Sql(absl::StrCat("SELECT pg_drop_replication_slot(", slot_, ")"));
  }

  // Installs for the table, and reads the WAL from here on.
  void Open(const TableConfig& table) {
    db_.config().tables = {table};
    db_.config().publication = absl::StrCat("published_", db_.name());
    const auto connection = db_.Connect();
    ASSERT_TRUE(connection->Execute(Connection::kSystemNamesOnly).ok());
    const auto report = CheckCatalog(*connection, db_.config());
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(report->tables.size(), 1u) << testing::PrintToString(report->problems);
    const auto installed = connection->Execute(InstallSql(db_.config(), report->tables));
    ASSERT_TRUE(installed.ok()) << installed.status();
    db_.OpenDefined(report->tables);
    db_.Sql(
        absl::StrCat("SELECT pg_create_logical_replication_slot(", slot_, ", 'test_decoding')"));
  }

  // What the WAL has in addition since the last call.
  std::vector<std::string> Wal() {
    const QueryResult changes =
        db_.Sql(absl::StrCat("SELECT data FROM pg_logical_slot_get_changes(", slot_,
                             ", NULL, NULL, 'include-xids', '0')"));
    std::vector<std::string> lines;
    for (int row = 0; row < changes.rows(); ++row) lines.push_back(Short(changes.Text(row, 0)));
    return lines;
  }

  StoreForTest db_;
  const std::string slot_ = absl::StrCat("'seen_", db_.name(), "'");
};

TEST_F(WalMessageTest, DeletesOfTtlAreMarkedInTheirTransactionAndThoseOfTheApplicationAreNot) {
  db_.FillSessions(4);
  Open(Sessions());
  db_.Sql("DELETE FROM sessions WHERE id = 4");
  EXPECT_THAT(Wal(), ElementsAre("BEGIN", "DELETE sessions", "COMMIT"));
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED DELETED DELETED");
  EXPECT_THAT(Wal(),
              ElementsAre("BEGIN", "DELETE sessions", "DELETE sessions", "DELETE sessions",
                          R"({"container" : "sessions", "schema" : "public", "table" : "sessions")"
                          R"(, "count" : 3, "on_expiry" : "delete"})",
                          "COMMIT"));
}

TEST_F(WalMessageTest, TransactionThatDeletesNothingLeavesNoTrace) {
  db_.FillSessions(2);
  Open(Sessions());
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql("UPDATE sessions SET payload = 'new'");
  Wal();
  EXPECT_EQ(Outcomes(db_.Delete(request)), "MODIFIED MODIFIED");
  EXPECT_THAT(Wal(), IsEmpty());
}

TEST_F(WalMessageTest, MessageComesAfterWhatTriggersAndForeignKeysDoAndNamesAreQuoted) {
  db_.FillSessions(1);
  db_.Sql(
      "ALTER TABLE sessions RENAME TO \"their \"\"own\"\" \\ sessions\"; CREATE TABLE lines (id "
      "bigint PRIMARY KEY REFERENCES \"their \"\"own\"\" \\ sessions\" ON DELETE CASCADE "
      "DEFERRABLE "
      "INITIALLY DEFERRED); INSERT INTO lines VALUES (1)");
  TableConfig table = Sessions();
  table.table = "their \"own\" \\ sessions";
  Open(table);
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED");
  const std::vector<std::string> wal = Wal();
  ASSERT_EQ(wal.size(), 5u) << testing::PrintToString(wal);
  EXPECT_EQ(wal[2], "DELETE lines");
  EXPECT_THAT(wal[3], HasSubstr(R"("table" : "their \"own\" \\ sessions", "count" : 1)"));
}

TEST_F(WalMessageTest, MovesAreMarked) {
  db_.FillSessions(1);
  db_.Sql("CREATE TABLE sessions_archive (LIKE sessions)");
  TableConfig table = Sessions();
  table.on_expiry = OnExpiry::kArchive;
  table.archive_table = "sessions_archive";
  Open(table);
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED");
  EXPECT_THAT(Wal(), ElementsAre("BEGIN", "DELETE sessions", "INSERT sessions_archive",
                                 HasSubstr(R"("count" : 1, "on_expiry" : "archive")"), "COMMIT"));
}

TEST_F(WalMessageTest, MarksAreMarked) {
  db_.FillSessions(1);
  db_.Sql("ALTER TABLE sessions ADD gone boolean NOT NULL DEFAULT false");
  TableConfig table = Sessions();
  table.where = "NOT gone";
  table.on_expiry = OnExpiry::kMark;
  table.mark_column = "gone";
  table.mark_value = "true";
  Open(table);
  EXPECT_EQ(Outcomes(db_.DeleteAll("sessions")), "DELETED");
  EXPECT_THAT(Wal(), ElementsAre("BEGIN", "UPDATE sessions",
                                 HasSubstr(R"("count" : 1, "on_expiry" : "mark")"), "COMMIT"));
}

TEST_F(WalMessageTest, GroupsAreCountedAsItems) {
  db_.ShowPosition(100);
  db_.Sql(kCreateOrders);
  db_.Sql(
      "CREATE INDEX ON lines (order_id); INSERT INTO orders SELECT i, p, '2020-01-01' FROM "
      "generate_series(1, 2) i, generate_series(1, 2) p; INSERT INTO lines VALUES (1, 1, 1)");
  Open(Orders());
  EXPECT_EQ(Outcomes(db_.DeleteAll("orders")), "DELETED DELETED");
  EXPECT_THAT(Wal(), ElementsAre("BEGIN", "DELETE lines", "DELETE orders", "DELETE orders",
                                 "DELETE orders", "DELETE orders",
                                 HasSubstr(R"("table" : "orders", "count" : 2)"), "COMMIT"));
}

// Its rows take longer than statement_timeout together, and those of a piece do not.
TEST_F(WalMessageTest, CondemnedGroupIsCountedOnceAndEachOfItsPiecesIsMarked) {
  db_.ShowPosition(100);
  db_.config().statement_timeout = absl::Milliseconds(400);
  db_.Sql(kCreateOrders);
  db_.Sql(
      "CREATE INDEX ON lines (order_id); INSERT INTO orders VALUES (1, 1, '2020-01-01'); INSERT "
      "INTO lines SELECT 1, 1, i FROM generate_series(1, 400) AS i; CREATE FUNCTION slow() RETURNS "
      "trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.005); RETURN OLD; END$$; CREATE "
      "TRIGGER slow BEFORE DELETE ON lines FOR EACH ROW EXECUTE FUNCTION slow()");
  Open(Orders());
  ASSERT_EQ(Outcomes(db_.DeleteAll("orders")), "THROTTLED");
  ASSERT_EQ(Outcomes(db_.DeleteAll("orders")), "DELETED");
  EXPECT_THAT(Wal(), ElementsAre("BEGIN", "INSERT ttl.condemned",
                                 R"({"container" : "orders", "schema" : "public", "table" : )"
                                 R"("orders", "count" : 1, "on_expiry" : "delete"})",
                                 "COMMIT"));
  for (int i = 0; i < 1000 && db_.Value("SELECT count(*) FROM ttl.condemned") != "0"; ++i) {
    db_.store().DeletePieces();
  }
  std::vector<std::string> wal = Wal();
  EXPECT_EQ(std::count(wal.begin(), wal.end(), "DELETE lines"), 400);
  wal.erase(std::unique(wal.begin(), wal.end()), wal.end());
  const std::string piece =
      R"({"container" : "orders", "schema" : "public", "table" : "orders", "count" : 0, )"
      R"("on_expiry" : "delete", "condemned" : true})";
  std::vector<std::string> expected;
  const auto pieces_of_lines = std::count(wal.begin(), wal.end(), "DELETE lines");
  EXPECT_GT(pieces_of_lines, 1);
  for (int i = 0; i < pieces_of_lines; ++i) {
    expected.insert(expected.end(), {"BEGIN", "DELETE lines", piece, "COMMIT"});
  }
  expected.insert(expected.end(), {"BEGIN", "DELETE orders", piece, "COMMIT"});
  expected.insert(expected.end(), {"BEGIN", "DELETE ttl.condemned", "COMMIT"});
  EXPECT_EQ(wal, expected);
}

TEST_F(WalMessageTest, RowThatAnInsertReplacesIsMarkedRightAfterItsDelete) {
  db_.FillSessions(2);
  TableConfig table = Sessions();
  table.replace_expired = true;
  Open(table);
  db_.Sql("INSERT INTO ttl.policy VALUES ('sessions', 60, 1, now())");
  Wal();
  db_.Sql(
      "BEGIN; DELETE FROM sessions WHERE id = 2; INSERT INTO sessions VALUES (1, 'new', now()); "
      "COMMIT");
  EXPECT_THAT(Wal(),
              ElementsAre("BEGIN", "DELETE sessions", "DELETE sessions",
                          R"({"container" : "sessions", "schema" : "public", "table" : "sessions")"
                          R"(, "count" : 1, "on_expiry" : "delete", "replace_expired" : true})",
                          "INSERT sessions", "COMMIT"));
}

// The trigger keeps the row, and the INSERT meets it.
TEST_F(WalMessageTest, RowThatAnInsertDoesNotReplaceHasNoMessage) {
  db_.FillSessions(1);
  TableConfig table = Sessions();
  table.replace_expired = true;
  Open(table);
  db_.Sql(
      "INSERT INTO ttl.policy VALUES ('sessions', 60, 1, now());"
      "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE "
      "TRIGGER keep BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION keep()");
  Wal();
  db_.Sql(
      "INSERT INTO sessions VALUES (1, 'new', now()), (2, 'new', now()) ON CONFLICT DO NOTHING");
  EXPECT_THAT(Wal(), ElementsAre("BEGIN", "INSERT sessions", "COMMIT"));
}

// The whole call fails at once, and not each row for itself.
TEST_F(WalMessageTest, RoleThatMayNotEmitDeletesNothingAndSaysWhy) {
  db_.FillSessions(50);
  const std::string role = absl::StrCat("modest_", db_.name());
  db_.Sql(absl::StrCat("CREATE ROLE ", role, " LOGIN; GRANT ALL ON sessions TO ", role));
  Open(Sessions());
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  db_.Sql(absl::StrCat(kRevoke, "; GRANT SELECT ON ALL TABLES IN SCHEMA ttl TO ", role));
  absl::StrAppend(&db_.config().database, " user=", role);
  db_.OpenDefined({db_.Describe(Sessions())});
  const auto response = db_.store().DeleteItems(request, absl::Now() + StoreForTest::kPatience);
  EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
  EXPECT_THAT(std::string(response.status().message()),
              HasSubstr("permission denied for function pg_logical_emit_message"));
  EXPECT_EQ(db_.Value("SELECT count(*) FROM sessions"), "50");
  EXPECT_THAT(Wal(), Not(testing::Contains(HasSubstr("DELETE"))));
}

}  // namespace
}  // namespace ttl::postgres
