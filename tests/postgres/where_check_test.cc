#include "client/postgres/sql/check/where_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/postgres/database_for_test.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WhereCheckTest : public testing::Test {
 protected:
  WhereCheckTest() {
    db_.Sql(
        "CREATE TYPE job_state AS ENUM ('created', 'completed');"
        "CREATE TABLE jobs (id bigint PRIMARY KEY, state job_state NOT NULL, note text, tries int,"
        "completed_on timestamptz NOT NULL DEFAULT now());"
        "CREATE TABLE other (done boolean)");
  }

  static TableConfig Jobs(const std::string& where) {
    TableConfig table;
    table.container = "jobs";
    table.table = "jobs";
    table.id = {"id"};
    table.ts_column = "completed_on";
    table.where = where;
    return table;
  }

  // As `check` does: what the catalogue says first.
  CatalogReport Check(const std::string& where) {
    EXPECT_TRUE(db_.connection().Execute(Connection::kSystemNamesOnly).ok());
    CatalogReport report = db_.Check(db_.ConfigFor({Jobs(where)}));
    for (const TableDefinition& table : std::vector<TableDefinition>(report.tables)) {
      const absl::Status status = CheckWhere(db_.connection(), table, report);
      EXPECT_TRUE(status.ok()) << status;
    }
    EXPECT_TRUE(db_.connection().Execute("RESET search_path").ok());
    return report;
  }

  DatabaseForTest db_;
};

TEST_F(WhereCheckTest, WhatIsNoConditionOnTheRowAloneIsRefused) {
  for (const auto& [where, why] : std::vector<std::pair<std::string, std::string>>{
           {"stat = 'completed'", "column \"stat\" does not exist"},
           {"state = 'finished'", "invalid input value for enum"},
           {"note", "argument of WHERE must be type boolean"},
           {"completed_on < now()", "must be marked IMMUTABLE"},
           {"random() < 0.5", "must be marked IMMUTABLE"},
           {"EXISTS (SELECT FROM public.other)", "cannot use subquery"},
           {"other.done", "missing FROM-clause entry"},
           {"count(*) > 1", "aggregate functions are not allowed"},
           {"xmin::text = '1'", "system columns"},
           {"tries = $1", "it names a parameter"},
           {"tries = 1) OR (tries = 2", "syntax error"},
           {"true); DROP TABLE public.other; --", "syntax error"},
           {"tries =", "syntax error"}}) {
    SCOPED_TRACE(where);
    EXPECT_THAT(Check(where).problems,
                ElementsAre(AllOf(HasSubstr("table public.jobs: where: "), HasSubstr(why),
                                  HasSubstr("it must be a condition on the row's own columns"))));
  }
  EXPECT_EQ(db_.Value("SELECT count(*) FROM other"), "0");
}

// The others can be followed.
TEST_F(WhereCheckTest, OnlyItsTableIsLeftOut) {
  TableConfig other = Jobs("");
  other.container = "other";
  other.table = "others";
  db_.Sql("CREATE TABLE others (LIKE jobs INCLUDING ALL)");
  ASSERT_TRUE(db_.connection().Execute(Connection::kSystemNamesOnly).ok());
  CatalogReport report = db_.Check(db_.ConfigFor({Jobs("completed_on < now()"), other}));
  const TableDefinition jobs = report.tables.at(0);
  ASSERT_TRUE(CheckWhere(db_.connection(), jobs, report).ok());
  EXPECT_THAT(report.tables,
              ElementsAre(testing::Field(&TableDefinition::configured_table, "others")));
  EXPECT_THAT(report.left_out.at("jobs"), HasSubstr("IMMUTABLE"));
  EXPECT_TRUE(report.is_server_fit);
}

TEST_F(WhereCheckTest, ConditionIsTriedOutAndNothingStays) {
  EXPECT_THAT(Check("state = 'completed' AND tries > 1 -- as it was meant").problems, IsEmpty());
  EXPECT_EQ(db_.Value("SELECT count(*) FROM pg_class WHERE relname = 'ttl_where'"), "0");
}

TEST_F(WhereCheckTest, RoleThatMayMakeNoTemporaryTableIsTold) {
  const std::string role = db_.CreateRole();
  db_.Sql("REVOKE TEMPORARY ON DATABASE " + db_.name() + " FROM PUBLIC; GRANT SELECT ON jobs TO " +
          role);
  const std::vector<TableDefinition> tables = db_.Define(db_.ConfigFor({Jobs("tries = 1")}));
  CatalogReport report;
  const auto connection = db_.Connect(role);
  ASSERT_TRUE(CheckWhere(*connection, tables.at(0), report).ok());
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("GRANT TEMPORARY ON DATABASE")));
  EXPECT_TRUE(report.left_out.contains("jobs"));
}

TEST_F(WhereCheckTest, TableThatIsLockedHoldsUpNobody) {
  const std::vector<TableDefinition> tables = db_.Define(db_.ConfigFor({Jobs("tries = 1")}));
  const auto other = db_.Connect();
  ASSERT_TRUE(other->Execute("BEGIN; LOCK TABLE jobs").ok());
  EXPECT_THAT(db_.Check(db_.ConfigFor({Jobs("tries = 1")})).problems, IsEmpty());
  CatalogReport report;
  ASSERT_TRUE(CheckWhere(db_.connection(), tables.at(0), report).ok());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("could not be tried out in time")));
  EXPECT_THAT(report.problems, IsEmpty());
}

// Rows of several keys meet in other unique indexes too, partial ones included.
TEST_F(WhereCheckTest, UniqueIndexesThatReplaceExpiredDoesNotCoverAreNamed) {
  db_.Sql("CREATE UNIQUE INDEX jobs_singleton ON jobs (note) WHERE state < 'completed'");
  TableConfig table = Jobs("state = 'completed'");
  table.replace_expired = true;
  table.null_means = NullMeans::kNever;
  const CatalogReport report = db_.Check(db_.ConfigFor({table}));
  EXPECT_THAT(report.warnings, testing::Contains(AllOf(
                                   HasSubstr("replace_expired makes way for a row of the same key"),
                                   HasSubstr("jobs_singleton"))));
}

}  // namespace
}  // namespace ttl::postgres
