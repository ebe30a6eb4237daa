#include "client/postgres/sql/check/times_check.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/visibility.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr int64_t kSeenRows = 10'000;
constexpr double kMillisecondsPerSecond = 1000;
// Few rows of current applications are older.
constexpr double kEarliestPlausible = 631'152'000;  // 1990
constexpr double kEarly = 31'536'000;               // 1971
constexpr double kDaySeconds = 86'400;
// Few rows expire later than this; beyond it a number is more likely in another unit.
constexpr absl::Duration kFarthestEnd = absl::Hours(24 * 366 * 100);
constexpr double kYearSeconds = 366 * kDaySeconds;

const char* NameOf(EpochUnit unit) {
  return unit == EpochUnit::kSeconds ? "seconds" : "milliseconds";
}

double InOtherUnit(double seconds, EpochUnit configured) {
  return configured == EpochUnit::kSeconds ? seconds / kMillisecondsPerSecond
                                           : seconds * kMillisecondsPerSecond;
}

std::string Day(double seconds) {
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e15) return absl::StrCat(seconds, " s");
  return absl::FormatTime("%Y-%m-%d", absl::FromUnixSeconds(static_cast<int64_t>(seconds)),
                          absl::UTCTimeZone());
}

double Seconds(const QueryResult& result, int column) {
  double seconds = 0;
  return absl::SimpleAtod(result.Text(0, column), &seconds) ? seconds : 0;
}

// Samples pages of the whole table, or all pages of a small or unanalyzed table, but at most
// kSeenRows rows.
std::string SampleOf(const TableDefinition& table, absl::string_view columns) {
  return absl::StrCat(
      "(SELECT ", columns, " FROM ", QuoteQualified(table.config.schema, table.config.table),
      " AS t TABLESAMPLE SYSTEM ((SELECT least(100, 100.0 * ", kSeenRows,
      " / greatest(1, sum(reltuples)))::float8 FROM pg_class WHERE oid = ", table.oid,
      " OR oid IN (SELECT relid FROM pg_partition_tree(", table.oid, "::regclass))))",
      table.config.where.empty() ? "" : absl::StrCat(" WHERE ", WhereCondition(table.config)),
      " LIMIT ", kSeenRows, ") AS seen");
}

constexpr absl::string_view kMedian =
    "coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY s), 0)::float8";

std::string SampleQuery(const TableDefinition& table) {
  return absl::StrCat(
      "SELECT count(*), count(s), count(*) FILTER (WHERE s > extract(epoch FROM now()) + ",
      kDaySeconds, "), count(*) FILTER (WHERE s < ", kEarly, "), coalesce(min(s), 0)::float8, ",
      kMedian, ", coalesce(max(s), 0)::float8 FROM ",
      SampleOf(table, absl::StrCat(SecondsExpression(table), " AS s")));
}

// Selects the number of rows, of expire times, of illegal ones, and the median.
std::string EndsQuery(const TableDefinition& table) {
  const std::string column = absl::StrCat("t.", QuoteName(table.expires->name));
  const std::string end = InstantOfEnd(table, column);
  const bool is_millis = table.config.expires_unit == EpochUnit::kMilliseconds;
  const std::string seconds =
      table.end_source != EndSource::kEpochNumber
          ? absl::StrCat("extract(epoch FROM ", end, ")")
          : absl::StrCat("(", end, "::numeric", is_millis ? " / 1000" : "", ")");
  return absl::StrCat(
      "SELECT count(*), count(e), count(*) FILTER (WHERE e = 0), ", kMedian, " FROM ",
      SampleOf(table, absl::StrCat(seconds, " AS s, ", ExpireAtOfRow(table, column), " AS e")));
}

// Limits the query, so that a locked or slow table does not delay the others.
absl::StatusOr<QueryResult> AskForTimes(Connection& connection, const std::string& query) {
  TTL_RETURN_IF_ERROR(
      connection.Execute("SET lock_timeout = '1s'; SET statement_timeout = '10s'").status());
  auto answer = connection.Query(query);
  const auto reset = connection.Execute("RESET lock_timeout; RESET statement_timeout");
  TTL_RETURN_IF_ERROR(answer.status());
  TTL_RETURN_IF_ERROR(reset.status());
  return answer;
}

absl::StatusOr<SeenTimes> LookAtTimes(Connection& connection, const TableDefinition& table) {
  TTL_ASSIGN_OR_RETURN(const auto answer, AskForTimes(connection, SampleQuery(table)));
  SeenTimes seen;
  seen.rows = answer.Number(0, 0);
  seen.times = answer.Number(0, 1);
  seen.future = answer.Number(0, 2);
  seen.early = answer.Number(0, 3);
  seen.oldest = Seconds(answer, 4);
  seen.median = Seconds(answer, 5);
  seen.newest = Seconds(answer, 6);
  return seen;
}

void NoteNulls(const TableDefinition& table, const SeenTimes& seen, absl::string_view column,
               CatalogReport& report) {
  if (table.config.null_means != NullMeans::kNever) return;
  report.notes.push_back(absl::StrCat(column, " is NULL in ", seen.rows - seen.times, " of ",
                                      seen.rows,
                                      " rows seen: such rows never expire (null_means: never)"));
}

std::string ColumnOf(const TableDefinition& table, const ColumnDefinition& column,
                     absl::string_view role) {
  return absl::StrCat("table ", table.config.schema, ".", table.config.table, ": column ",
                      column.name, ", its ", role, ",");
}

// Reports that a column uses another unit. The median, which is another one at the next check, is
// not part of the text for left_out.
void RefuseUnit(const std::string& container, absl::string_view column, absl::string_view field,
                const SeenTimes& seen, EpochUnit unit, EpochUnit likely, CatalogReport& report) {
  const std::string cure = absl::StrCat("; set ", field, ": ", NameOf(likely));
  report.LeaveOut(
      container,
      absl::StrCat(column, " counts ", NameOf(likely), ", it seems: as ", NameOf(unit),
                   " the middle one of ", seen.times, " rows seen is of ", Day(seen.median),
                   ", as ", NameOf(likely), " of ", Day(InOtherUnit(seen.median, unit)), cure),
      absl::StrCat(column, " counts ", NameOf(likely), ", it seems, not ", NameOf(unit), cure));
}

// Whether a query failed because it took too long, which adds a warning.
bool WasTooLong(const absl::Status& status, absl::string_view column, CatalogReport& report) {
  if (!absl::IsAborted(status)) return false;
  report.warnings.push_back(
      absl::StrCat(column, " could not be looked at in time: ", status.message()));
  return true;
}

void WarnOfOutliers(const SeenTimes& seen, absl::string_view column, CatalogReport& report) {
  if (seen.future > 0) {
    report.warnings.push_back(absl::StrCat(column, " is more than a day ahead in ", seen.future,
                                           " of ", seen.times, " rows seen, the latest ",
                                           Day(seen.newest),
                                           ": such rows are not tracked. It must say when a row "
                                           "was last modified; when it ends is for "
                                           "expires_column"));
  }
  if (seen.early > 0) {
    report.warnings.push_back(absl::StrCat(column, " is around 1970 in ", seen.early, " of ",
                                           seen.times, " rows seen, the oldest ", Day(seen.oldest),
                                           ": with any default_ttl such rows are due at once"));
  }
}

}  // namespace

std::optional<EpochUnit> LikelyUnit(const SeenTimes& seen, EpochUnit configured, absl::Time now) {
  const auto is_plausible = [&](double seconds) {
    return seconds >= kEarliestPlausible &&
           seconds <= absl::ToDoubleSeconds(now - absl::UnixEpoch()) + kYearSeconds;
  };
  if (seen.times == 0 || is_plausible(seen.median)) return std::nullopt;
  if (!is_plausible(InOtherUnit(seen.median, configured))) return std::nullopt;
  return configured == EpochUnit::kSeconds ? EpochUnit::kMilliseconds : EpochUnit::kSeconds;
}

absl::Status CheckTimes(Connection& connection, const TableDefinition& table, absl::Time now,
                        CatalogReport& report) {
  if (!table.ts.has_value()) return absl::OkStatus();
  const absl::StatusOr<SeenTimes> seen = LookAtTimes(connection, table);
  const std::string column = ColumnOf(table, *table.ts, "ts_column");
  if (WasTooLong(seen.status(), column, report)) return absl::OkStatus();
  TTL_RETURN_IF_ERROR(seen.status());
  NoteNulls(table, *seen, column, report);
  const bool is_number = table.ts_source == TsSource::kEpochNumber;
  const EpochUnit unit = table.config.ts_unit;
  const auto likely = is_number ? LikelyUnit(*seen, unit, now) : std::nullopt;
  if (!likely.has_value()) {
    WarnOfOutliers(*seen, column, report);
    return absl::OkStatus();
  }
  RefuseUnit(table.config.container, column, "ts_unit", *seen, unit, *likely, report);
  return absl::OkStatus();
}

absl::Status CheckEnds(Connection& connection, const TableDefinition& table, absl::Time now,
                       CatalogReport& report) {
  if (!table.expires.has_value()) return absl::OkStatus();
  const std::string column = ColumnOf(table, *table.expires, "expires_column");
  const auto answer = AskForTimes(connection, EndsQuery(table));
  if (WasTooLong(answer.status(), column, report)) return absl::OkStatus();
  TTL_RETURN_IF_ERROR(answer.status());
  SeenTimes seen;
  seen.rows = answer->Number(0, 0);
  seen.times = answer->Number(0, 1);
  seen.median = Seconds(*answer, 3);
  const EpochUnit unit = table.config.expires_unit;
  const auto likely = table.end_source == EndSource::kEpochNumber
                          ? LikelyUnit(seen, unit, now + kFarthestEnd)
                          : std::nullopt;
  if (likely.has_value()) {
    RefuseUnit(table.config.container, column, "expires_unit", seen, unit, *likely, report);
    return absl::OkStatus();
  }
  if (const int64_t illegal = answer->Number(0, 2); illegal > 0) {
    report.warnings.push_back(
        absl::StrCat(column, " is not after 1970-01-01 00:00:00, or is after the year 9999, in ",
                     illegal, " of ", seen.rows, " rows seen: such rows never expire"));
  }
  const bool inherits = table.config.expires_null == NullEnd::kInherits;
  report.notes.push_back(absl::StrCat(
      column, " is NULL or infinity in ", seen.rows - seen.times, " of ", seen.rows,
      " rows seen: such rows ",
      inherits ? "inherit default_ttl, or never expire, in this order" : "never expire",
      table.ttl.has_value() ? ", unless they have a ttl of their own" : ""));
  return absl::OkStatus();
}

std::string SecondsExpression(const TableDefinition& table) {
  if (table.ts_source == TsSource::kNone) return "1::numeric";
  if (!table.ts.has_value()) {
    return absl::StrCat("extract(epoch FROM ", CommitTimeOfRow(table.own_schema), ")");
  }
  const std::string column = absl::StrCat("t.", QuoteName(table.ts->name));
  if (table.ts_source != TsSource::kEpochNumber) {
    return absl::StrCat("extract(epoch FROM ", InstantOfColumn(table, column), ")");
  }
  const bool is_millis = table.config.ts_unit == EpochUnit::kMilliseconds;
  return absl::StrCat("(", column, "::numeric", is_millis ? " / 1000" : "", ")");
}

}  // namespace ttl::postgres
