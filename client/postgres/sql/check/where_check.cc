#include "client/postgres/sql/check/where_check.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "client/postgres/sql/visibility.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr char kMustBe[] =
    "; it must be a condition on the row's own columns that is true or false for each row at any "
    "time, such as state = 'completed'; functions and operators outside of pg_catalog need their "
    "schema";

std::string Refusal(absl::string_view why) { return absl::StrCat(": where: ", why, kMustBe); }

constexpr char kMissingParameter[] = "08P01";

// The lock_timeout keeps a locked table from delaying the others. The transaction is rolled back.
constexpr char kBegin[] =
    "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; SET LOCAL lock_timeout = '1s'";

// The predicate of a partial index must satisfy the same conditions, and the server names the
// violated one. The index is built on an empty copy, since on the table it would lock the table and
// read all rows.
absl::Status TryWhere(Connection& connection, const TableDefinition& table) {
  const TableConfig& config = table.config;
  TTL_RETURN_IF_ERROR(
      connection
          .Execute(absl::StrCat("CREATE TEMPORARY TABLE ttl_where (LIKE ",
                                QuoteQualified(config.schema, config.table), ") ON COMMIT DROP"))
          .status());
  const std::string key = QuoteName(config.id.front());
  // Query() runs at most one statement, whatever the text is.
  const auto indexed = connection.Query(absl::StrCat("CREATE INDEX ON pg_temp.ttl_where (", key,
                                                     ") WHERE ", WhereCondition(table.config)));
  return indexed.status();
}

absl::Status Judge(Connection& connection, const TableDefinition& table, CatalogReport& report) {
  const std::string name = absl::StrCat("table ", table.config.schema, ".", table.config.table);
  const absl::Status tried = TryWhere(connection, table);
  if (absl::IsPermissionDenied(tried)) {
    report.LeaveOut(table.config.container,
                    absl::StrCat(name,
                                 ": its where is tried out on a temporary table, which the role "
                                 "may not make: GRANT TEMPORARY ON DATABASE to it (",
                                 tried.message(), ")"));
    return absl::OkStatus();
  }
  if (tried.ok() || !IsAboutTheStatement(tried)) return tried;
  report.LeaveOut(table.config.container, absl::StrCat(name, Refusal(SqlMessage(tried))));
  return absl::OkStatus();
}

// Returns an empty string if the `where` can be parsed.
absl::StatusOr<std::string> ReadWhere(Connection& connection, const TableConfig& table) {
  const std::string from =
      absl::StrCat(" FROM ", QuoteQualified(table.schema, table.table), " AS t");
  // Tests the condition in parentheses, as it is used, and without, so that it cannot close them
  // itself.
  for (const std::string& statement :
       {absl::StrCat("EXPLAIN SELECT", from, " WHERE ", WhereCondition(table)),
        absl::StrCat("EXPLAIN SELECT CASE WHEN ", table.where, "\n THEN 1 END", from)}) {
    const auto read = connection.Query(statement);
    if (read.ok()) continue;
    if (SqlState(read.status()) == kMissingParameter) return Refusal("it names a parameter");
    if (!IsAboutTheStatement(read.status())) return read.status();
    return Refusal(SqlMessage(read.status()));
  }
  return std::string();
}

}  // namespace

absl::StatusOr<std::string> WhyWhereIsUnfit(Connection& connection, const TableConfig& table) {
  TTL_RETURN_IF_ERROR(connection.Execute(kBegin).status());
  absl::StatusOr<std::string> why = ReadWhere(connection, table);
  TTL_RETURN_IF_ERROR(connection.Execute("ROLLBACK").status());
  // A locked table is not a problem.
  return absl::IsAborted(why.status()) ? std::string() : why;
}

absl::Status CheckWhere(Connection& connection, const TableDefinition& table,
                        CatalogReport& report) {
  if (table.config.where.empty()) return absl::OkStatus();
  TTL_RETURN_IF_ERROR(connection.Execute(kBegin).status());
  const absl::Status judged = Judge(connection, table, report);
  const auto ended = connection.Execute("ROLLBACK");
  if (absl::IsAborted(judged)) {
    report.warnings.push_back(
        absl::StrCat("table ", table.config.schema, ".", table.config.table,
                     ": its where could not be tried out in time: ", judged.message()));
    return ended.status();
  }
  return judged.ok() ? ended.status() : judged;
}

}  // namespace ttl::postgres
