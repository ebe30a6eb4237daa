#include "client/postgres/program/preview/table_preview.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/postgres/sql/check/times_check.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_rows.h"
#include "client/postgres/sql/visibility.h"
#include "service/base/status_macros.h"
#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

// Rows per second of the example if deletes are not limited.
constexpr double kExampleRate = 1000;

std::string OfRow(const ColumnDefinition& column) {
  return absl::StrCat("t.", QuoteName(column.name));
}

// SQL of the ttl of a row that has none of its own.
std::string InheritedLife(const TableDefinition& table, int64_t default_ttl) {
  if (!table.expires.has_value()) return absl::StrCat(default_ttl, "::bigint");
  if (table.config.expires_null == NullEnd::kNever) return "-1::bigint";
  return absl::StrCat("CASE WHEN ", OfRow(*table.expires), " IS NULL THEN ", default_ttl,
                      "::bigint ELSE -1 END");
}

// SQL of the seconds that a row lives after its _ts; -1: forever, also with an invalid ttl.
std::string LifeExpression(const TableDefinition& table, int64_t default_ttl) {
  const std::string inherited = InheritedLife(table, default_ttl);
  if (!table.ttl.has_value()) return inherited;
  const std::string ttl = OfRow(*table.ttl);
  return absl::StrCat("CASE WHEN ", ttl, " IS NULL THEN ", inherited, " WHEN ", ttl,
                      " BETWEEN 1 AND ", kMaxTtl, " THEN ", ttl, "::bigint ELSE -1 END");
}

// SQL of the expire time that does not depend on _ts; 0: invalid. NULL with an invalid ttl, because
// the row then never expires.
std::string EndExpression(const TableDefinition& table) {
  if (!table.expires.has_value()) return "NULL::bigint";
  std::string end = ExpireAtOfRow(table, OfRow(*table.expires));
  if (!table.ttl.has_value()) return end;
  const std::string ttl = OfRow(*table.ttl);
  return absl::StrCat("CASE WHEN ", ttl, " IS NULL OR ", ttl, " = -1 OR ", ttl, " BETWEEN 1 AND ",
                      kMaxTtl, " THEN ", end, " END");
}

// Whether the table has write times; otherwise only the expire times are known.
bool SaysWrittenAt(const TableDefinition& table) { return table.ts_source != TsSource::kNone; }

// `ok` is true for tracked rows only: not for rows without a _ts, with a _ts before 1970-01-01
// 00:00:01 or more than a day ahead, or with an invalid expire time, nor for those outside `where`.
std::string PreviewQuery(const TableDefinition& table, int64_t default_ttl) {
  const std::string where =
      table.config.where.empty() ? "true" : absl::StrCat(WhereCondition(table.config), " IS TRUE");
  const char* const shown = SaysWrittenAt(table) ? "s" : "e";
  return absl::StrCat(
      "SELECT count(*), count(*) FILTER (WHERE ok), "
      "count(*) FILTER (WHERE ok AND ends <= now), "
      "count(*) FILTER (WHERE ok AND ends IS NULL), "
      "coalesce(to_timestamp(min(",
      shown, ") FILTER (WHERE ok))::text, '-'), coalesce(to_timestamp(max(", shown,
      ") FILTER (WHERE ok))::text, '-'), "
      "count(*) FILTER (WHERE inside AND s IS NULL), count(*) FILTER (WHERE NOT inside), "
      "to_timestamp(min(ends) FILTER (WHERE ok AND ends <= now))::text, "
      "to_timestamp(max(ends) FILTER (WHERE ok AND ends <= now))::text "
      "FROM (SELECT *, inside AND s >= 1 AND s <= now + 86400 AND e IS DISTINCT FROM 0 AS ok, "
      "least(CASE WHEN life > 0 THEN s + life END, e) AS ends FROM (SELECT floor(",
      SecondsExpression(table), ")::float8 AS s, ", EndExpression(table), " AS e, ",
      LifeExpression(table, default_ttl),
      " AS life, floor(extract(epoch FROM now()))::float8 AS now, ", where, " AS inside FROM ",
      table.rows.empty() ? QuoteQualified(table.config.schema, table.config.table)
                         : absl::StrCat("(", table.rows, ")"),
      " AS t) AS seen) AS rows");
}

struct Action {
  std::string done;   // "deleted"
  std::string doing;  // "deleting them"
};

Action ActionOf(const TableConfig& config) {
  switch (config.on_expiry) {
    case OnExpiry::kArchive: {
      const std::string to =
          absl::StrCat(" to ", config.schema_of_archive(), ".", config.archive_table);
      return {absl::StrCat("moved", to), absl::StrCat("moving them", to)};
    }
    case OnExpiry::kMark:
      return {absl::StrCat("marked in ", config.mark_column), "marking them"};
    case OnExpiry::kDelete:
      break;
  }
  return {"deleted", "deleting them"};
}

std::string AtRate(int64_t rows, double per_second) {
  const double seconds = std::ceil(static_cast<double>(rows) / per_second);
  return absl::StrCat("about ", absl::FormatDuration(absl::Seconds(seconds)));
}

}  // namespace

std::string DeletesTake(int64_t rows, const DeleteLimit& limit, absl::string_view done) {
  if (!limit.per_second.has_value()) {
    return absl::StrCat(done, " has no limit (", limit.from,
                        ") and takes what the database needs; with a limit of ", kExampleRate,
                        " rows per second it takes ", AtRate(rows, kExampleRate));
  }
  if (*limit.per_second <= 0) {
    return absl::StrCat(done, " does not begin: the limit is 0 rows per second (", limit.from, ")");
  }
  return absl::StrCat(done, " takes ", AtRate(rows, *limit.per_second), " at the limit of ",
                      *limit.per_second, " rows per second (", limit.from, ")");
}

absl::Status PrintTablePreview(Connection& connection, const TableDefinition& definition,
                               int64_t default_ttl, const DeleteLimit& limit, Output output) {
  const TableDefinition table = GroupsAsRows(definition);
  const char* const rows = IsGroup(table) ? " groups" : " rows";
  TTL_ASSIGN_OR_RETURN(const auto counts, connection.Query(PreviewQuery(table, default_ttl)));
  const bool expects_nulls = table.config.null_means == NullMeans::kNever;
  const int64_t expected_nulls = expects_nulls ? counts.Number(0, 6) : 0;
  const int64_t outside = counts.Number(0, 7);
  const int64_t expired = counts.Number(0, 2);
  const Action action = ActionOf(table.config);
  output.out << table.config.container << ": " << counts.Text(0, 0) << rows << ", "
             << (SaysWrittenAt(table) ? "written" : "ending") << " from " << counts.Text(0, 4)
             << " to " << counts.Text(0, 5) << "\n"
             << "  with default_ttl " << default_ttl << ": " << expired << rows
             << " are hidden at once, and " << action.done << " after the grace of an adoption\n";
  if (expired > 0) {
    output.out << "  the oldest of them expired at " << counts.Text(0, 8) << ", the newest at "
               << counts.Text(0, 9) << "\n  " << DeletesTake(expired, limit, action.doing) << "\n";
  }
  output.out
      << "  " << counts.Text(0, 3) << rows << " never expire; "
      << counts.Number(0, 0) - counts.Number(0, 1) - expected_nulls - outside << rows
      << (table.expires.has_value()
              ? " cannot be tracked (no _ts, or a _ts or an end that is impossible) and stay\n"
              : " cannot be tracked (no _ts, or an impossible one) and stay\n");
  if (!table.config.where.empty()) {
    output.out << "  " << outside << " rows are outside its where, and never expire\n";
  }
  if (expects_nulls) {
    output.out << "  " << expected_nulls << rows
               << " have no time, and never expire (null_means: never)\n";
  }
  return absl::OkStatus();
}

}  // namespace ttl::postgres
