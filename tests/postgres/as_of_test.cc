// ttl_postgres.as_of: the statements of one query agree, though time passes between them.
// visibility_test.cc and end_column_test.cc compare what is seen with the rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "tests/postgres/database_for_test.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TableConfig Rows() {
  TableConfig table;
  table.container = table.table = "rows";
  table.id = {"id"};
  table.ts_column = "ts";
  table.live_view = "rows_live";
  table.row_level_security = true;
  table.replace_expired = true;
  return table;
}

class AsOfTest : public testing::Test {
 protected:
  // With a default_ttl of 60: row 1 is live, row 2 expired 10 minutes ago, row 3 two hours ago.
  AsOfTest() : reader_(database_.CreateRole()) {
    database_.Sql(absl::StrCat(
        "CREATE TABLE rows (id int PRIMARY KEY, ts timestamptz NOT NULL, note text); GRANT SELECT, "
        "INSERT, UPDATE, DELETE ON rows TO ",
        reader_, "; CREATE INDEX by_time ON rows (ts)"));
    database_.Install(database_.ConfigFor({Rows()}));
    database_.Sql(
        "INSERT INTO rows VALUES (1, now()), (2, now() - interval '660 s'), (3, now() - interval "
        "'7260 s'); INSERT INTO ttl.policy VALUES ('rows', 60, 1, now())");
    application_ = database_.Connect(reader_);
  }

  // Sets the instant to `value`, SQL of a text, in the application's session.
  void Set(const std::string& value, bool is_local = false) {
    Run(absl::StrCat("SELECT set_config('ttl_postgres.as_of', ", value, ", ",
                     is_local ? "true" : "false", ")"));
  }
  void SetAgo(const std::string& interval, bool is_local = false) {
    Set(absl::StrCat("(statement_timestamp() - interval '", interval, "')::text"), is_local);
  }

  QueryResult Run(const std::string& sql) {
    auto result = application_->Execute(sql);
    if (result.ok()) return *std::move(result);
    ADD_FAILURE() << result.status() << "\n" << sql;
    return QueryResult(nullptr);
  }

  std::string Ids(const std::string& relation) {
    const QueryResult ids = Run(
        absl::StrCat("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM ", relation));
    return ids.rows() == 1 ? std::string(ids.Text(0, 0)) : "";
  }

  std::string Plan(const std::string& query) {
    const QueryResult lines = Run(absl::StrCat("EXPLAIN (COSTS off) ", query));
    std::string plan;
    for (int row = 0; row < lines.rows(); ++row) absl::StrAppend(&plan, lines.Text(row, 0), "\n");
    return plan;
  }

  DatabaseForTest database_;
  const std::string reader_;
  std::unique_ptr<Connection> application_;
};

TEST_F(AsOfTest, RowsThatHaveExpiredSinceAreSeenInEachWay) {
  SetAgo("20 min");
  for (const char* relation : {"rows_live", "rows", "rows WHERE NOT ttl.is_expired('rows', ts)",
                               "rows WHERE ts >= ttl.first_visible_ts('rows')"}) {
    EXPECT_EQ(Ids(relation), "1 2") << relation;
  }
  SetAgo("5 min");
  EXPECT_EQ(Ids("rows_live"), "1");
  EXPECT_EQ(Ids("rows"), "1");
}

TEST_F(AsOfTest, EndsWithTheTransactionOrTheReset) {
  Run("BEGIN");
  SetAgo("20 min", /*is_local=*/true);
  EXPECT_EQ(Ids("rows_live"), "1 2");
  Run("COMMIT");
  EXPECT_EQ(Ids("rows_live"), "1");
  SetAgo("20 min");
  EXPECT_EQ(Ids("rows"), "1 2");
  Run("RESET ttl_postgres.as_of");
  EXPECT_EQ(Ids("rows"), "1");
}

TEST_F(AsOfTest, HoldsForStatementsThatWerePreparedWithoutIt) {
  Run("SET plan_cache_mode = force_generic_plan; PREPARE live AS SELECT count(*) FROM rows_live");
  EXPECT_EQ(Run("EXECUTE live").Text(0, 0), "1");
  SetAgo("20 min");
  EXPECT_EQ(Run("EXECUTE live").Text(0, 0), "2");
  Run("RESET ttl_postgres.as_of");
  EXPECT_EQ(Run("EXECUTE live").Text(0, 0), "1");
}

// What a session sees it can write, and what it sees stands in the way of an INSERT.
TEST_F(AsOfTest, WritesReachTheRowsThatAreSeen) {
  SetAgo("20 min");
  EXPECT_EQ(Run("UPDATE rows_live SET note = 'x'").affected(), 2);
  EXPECT_EQ(Run("UPDATE rows SET note = 'y'").affected(), 2);
  const auto insert = application_->Execute("INSERT INTO rows VALUES (2, now())");
  EXPECT_EQ(SqlState(insert.status()), "23505") << insert.status();
  Run("RESET ttl_postgres.as_of");
  Run("INSERT INTO rows VALUES (2, now())");
  EXPECT_EQ(Ids("rows"), "1 2");
}

// The statements that are sent together have one statement_timestamp().
TEST_F(AsOfTest, LimitsAreIncludedAndSlightlyAheadMeansNow) {
  database_.Sql(
      "TRUNCATE rows; INSERT INTO rows SELECT i, now() - i * interval '1 s' FROM "
      "generate_series(40, 80) AS i");
  const auto live_as_of = [&](const std::string& offset) {
    return database_.Value(
        absl::StrCat("SELECT set_config('ttl_postgres.as_of', (statement_timestamp() + interval '",
                     offset, "')::text, false); SELECT count(*) FROM rows_live"));
  };
  EXPECT_EQ(live_as_of("-1 hour"), "41");
  EXPECT_EQ(database_.Value(
                "SELECT set_config('ttl_postgres.as_of', (statement_timestamp() + interval '5 "
                "s')::text, false); SELECT (SELECT count(*) FROM rows_live) - (SELECT count(*) "
                "FROM rows WHERE date_trunc('second', ts) + interval '60 s' > "
                "date_trunc('second', statement_timestamp()))"),
            "0");
}

TEST_F(AsOfTest, WrongValueIsAnErrorThatNamesIt) {
  struct Wrong {
    std::string value;  // SQL
    std::string state;
    std::string says;
  };
  const std::string format = "must be a time with its offset, such as 2026-11-30 12:00:00+00";
  const std::string limits =
      "must be at most 1 hour before and 5 seconds after the database's clock, which shows 20";
  const std::vector<Wrong> wrongs = {
      {"'yesterday'", "22023", absl::StrCat("ttl_postgres.as_of is \"yesterday\": ", format)},
      {"'now'", "22023", format},
      {"' '", "22023", format},
      {"'infinity'", "22023", format},
      {"'2026-11-30 12:00:00'", "22023", "\"2026-11-30 12:00:00\""},
      {"'2026-11-30 12:00:00 Europe/Berlin'", "22023", format},
      {"'1 hour'", "22023", format},
      {"'2026-13-30 12:00:00+00'", "22008", "\"2026-13-30 12:00:00+00\""},
      {"'2001-02-03 04:05:06+00'", "22023",
       absl::StrCat("ttl_postgres.as_of is 2001-02-03 04:05:06+00: ", limits)},
      {"'9999-12-31T23:59:59.999Z'", "22023", limits},
      {"(statement_timestamp() - interval '3601 s')::text", "22023", limits},
      {"(statement_timestamp() + interval '1 min')::text", "22023", limits},
  };
  for (const Wrong& wrong : wrongs) {
    Set(wrong.value);
    for (const char* relation : {"rows_live", "rows", "rows WHERE ttl.is_expired('rows', ts)"}) {
      SCOPED_TRACE(absl::StrCat(wrong.value, " ", relation));
      const auto refused = application_->Query(absl::StrCat("SELECT id FROM ", relation));
      EXPECT_EQ(SqlState(refused.status()), wrong.state);
      EXPECT_THAT(std::string(refused.status().message()), HasSubstr(wrong.says));
    }
  }
}

TEST_F(AsOfTest, FormsInWhichClientsWriteATimeAreTaken) {
  for (const char* format :
       {"'YYYY-MM-DD HH24:MI:SS.US\"+00\"'", "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'",
        "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"+00:00\"'", "'YYYY-MM-DD HH24:MI:SS\"+0000\"'"}) {
    Set(absl::StrCat("to_char((statement_timestamp() - interval '20 min') AT TIME ZONE 'UTC', ",
                     format, ")"));
    EXPECT_EQ(Ids("rows_live"), "1 2") << format;
  }
}

// Whether it is set or not: the policy and the instant are read once, and the index is used.
TEST_F(AsOfTest, PlanIsTheSameAndServedByTheIndex) {
  database_.Sql(
      "INSERT INTO rows SELECT i, now() - i * interval '1 h' FROM generate_series(4, 20000) i; "
      "ANALYZE rows");
  Run("SET enable_seqscan = off");
  for (const std::string query : {"SELECT * FROM rows_live", "SELECT * FROM rows"}) {
    Run("RESET ttl_postgres.as_of");
    const std::string plan = Plan(query);
    EXPECT_THAT(plan, AllOf(HasSubstr("Index Scan on by_time\n"), HasSubstr("(ts >= $0)"),
                            Not(HasSubstr("SubPlan")), Not(HasSubstr("as_of"))));
    SetAgo("20 min");
    EXPECT_EQ(Plan(query), plan);
  }
}

// A function with an EXCEPTION block would fail there.
TEST_F(AsOfTest, HoldsInParallelQueries) {
  SetAgo("20 min");
  Run("SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost "
      "= 0; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = "
      "off");
  EXPECT_THAT(Plan("SELECT count(note) FROM rows_live"), HasSubstr("Parallel Seq Scan on rows"));
  EXPECT_EQ(Run("SELECT count(id) FROM rows_live").Text(0, 0), "2");
  Set("'now'");
  const auto refused = application_->Query("SELECT count(id) FROM rows_live");
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("must be a time"));
}

class AsOfGroupsTest : public testing::Test {
 protected:
  // With a default_ttl of 60, the group of thread 7 expired 10 minutes ago.
  AsOfGroupsTest() {
    database_.Sql(
        "CREATE TABLE rows (id int PRIMARY KEY, thread int NOT NULL, ts timestamptz NOT NULL); "
        "CREATE INDEX ON rows (thread, ts); ALTER TABLE rows REPLICA IDENTITY FULL");
    TableConfig table;
    table.container = table.table = "rows";
    table.id = {"thread"};
    table.is_group = true;
    table.ts_column = "ts";
    table.live_view = "rows_live";
    database_.Install(database_.ConfigFor({table}));
    database_.Sql(
        "INSERT INTO rows VALUES (1, 7, now() - interval '1 d'), (2, 7, now() - interval '660 s'); "
        "INSERT INTO ttl.policy VALUES ('rows', 60, 1, now())");
  }

  void SetAgo(const std::string& interval) {
    database_.Sql(
        absl::StrCat("SELECT set_config('ttl_postgres.as_of', (statement_timestamp() - interval '",
                     interval, "')::text, false)"));
  }

  std::string Ids() {
    return database_.Value(
        "SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM rows_live");
  }

  DatabaseForTest database_;
};

TEST_F(AsOfGroupsTest, GroupIsJudgedAsOfTheInstant) {
  EXPECT_EQ(Ids(), "");
  SetAgo("20 min");
  EXPECT_EQ(Ids(), "1 2");
}

// Condemned rows count as deleted, and a delete is not taken back. The rows that are left are
// judged without them.
TEST_F(AsOfGroupsTest, CondemnedRowIsHiddenWhateverTheInstant) {
  database_.Sql(
      "INSERT INTO ttl.condemned SELECT 'rows'::regclass, hash_record(ROW(7)), ARRAY['7'], "
      "pg_snapshot_xmax(pg_current_snapshot())::text::bigint, system_identifier FROM "
      "pg_control_system()");
  SetAgo("20 min");
  EXPECT_EQ(Ids(), "");
  database_.Sql("INSERT INTO rows VALUES (3, 7, now() - interval '1 d')");
  EXPECT_EQ(Ids(), "");
  database_.Sql("INSERT INTO rows VALUES (4, 7, now() - interval '660 s')");
  EXPECT_EQ(Ids(), "3 4");
  SetAgo("5 min");
  EXPECT_EQ(Ids(), "");
}

}  // namespace
}  // namespace ttl::postgres
