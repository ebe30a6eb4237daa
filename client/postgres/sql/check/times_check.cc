#include "client/postgres/sql/check/times_check.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

constexpr int64_t kSeenRows = 10'000;
constexpr double kMillisecondsPerSecond = 1000;
// Before it hardly any row of today's applications was written.
constexpr double kEarliestPlausible = 631'152'000;  // 1990
constexpr double kEarly = 31'536'000;               // 1971
constexpr double kDaySeconds = 86'400;
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

// Pages from all over the table; of a small or unknown one all of them, but no more rows than
// asked for.
std::string SampleQuery(const TableDefinition& table) {
  return absl::StrCat(
      "SELECT count(*), count(s), count(*) FILTER (WHERE s > extract(epoch FROM now()) + ",
      kDaySeconds, "), count(*) FILTER (WHERE s < ", kEarly,
      "), coalesce(min(s), 0)::float8, coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY s), "
      "0)::float8, coalesce(max(s), 0)::float8 FROM (SELECT ",
      SecondsExpression(table), " AS s FROM ",
      QuoteQualified(table.config.schema, table.config.table),
      " AS t TABLESAMPLE SYSTEM ((SELECT least(100, 100.0 * ", kSeenRows,
      " / greatest(1, sum(reltuples)))::float8 FROM pg_class WHERE oid = ", table.oid,
      " OR oid IN (SELECT relid FROM pg_partition_tree(", table.oid, "::regclass))))",
      table.config.where.empty() ? "" : absl::StrCat(" WHERE ", WhereCondition(table.config)),
      " LIMIT ", kSeenRows, ") AS seen");
}

// A table that somebody has locked, or that is slow, does not hold up the others.
absl::StatusOr<SeenTimes> LookAtTimes(Connection& connection, const TableDefinition& table) {
  const auto limited = connection.Execute("SET lock_timeout = '1s'; SET statement_timeout = '10s'");
  if (!limited.ok()) return limited.status();
  const auto answer = connection.Query(SampleQuery(table));
  const auto reset = connection.Execute("RESET lock_timeout; RESET statement_timeout");
  if (!answer.ok()) return answer.status();
  if (!reset.ok()) return reset.status();
  SeenTimes seen;
  seen.rows = answer->Number(0, 0);
  seen.times = answer->Number(0, 1);
  seen.future = answer->Number(0, 2);
  seen.early = answer->Number(0, 3);
  seen.oldest = Seconds(*answer, 4);
  seen.median = Seconds(*answer, 5);
  seen.newest = Seconds(*answer, 6);
  return seen;
}

void NoteNulls(const TableDefinition& table, const SeenTimes& seen, absl::string_view column,
               CatalogReport& report) {
  if (table.config.null_means != NullMeans::kNever) return;
  report.notes.push_back(absl::StrCat(column, " is NULL in ", seen.rows - seen.times, " of ",
                                      seen.rows,
                                      " rows seen: such rows never expire (null_means: never)"));
}

void WarnOfOutliers(const SeenTimes& seen, absl::string_view column, CatalogReport& report) {
  if (seen.future > 0) {
    report.warnings.push_back(absl::StrCat(
        column, " is more than a day ahead in ", seen.future, " of ", seen.times,
        " rows seen, the latest ", Day(seen.newest),
        ": such rows are not tracked. It must say when a row was last modified, not when it ends"));
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

absl::Status CheckTimes(Connection& connection, const TableDefinition& table,
                        CatalogReport& report) {
  if (!table.ts.has_value()) return absl::OkStatus();
  const absl::StatusOr<SeenTimes> seen = LookAtTimes(connection, table);
  const std::string column = absl::StrCat("table ", table.config.schema, ".", table.config.table,
                                          ": column ", table.ts->name, ", its ts_column,");
  if (absl::IsAborted(seen.status())) {
    report.warnings.push_back(
        absl::StrCat(column, " could not be looked at in time: ", seen.status().message()));
    return absl::OkStatus();
  }
  if (!seen.ok()) return seen.status();
  NoteNulls(table, *seen, column, report);
  const bool is_number = table.ts_source == TsSource::kEpochNumber;
  const EpochUnit unit = table.config.ts_unit;
  const auto likely = is_number ? LikelyUnit(*seen, unit, absl::Now()) : std::nullopt;
  if (!likely.has_value()) {
    WarnOfOutliers(*seen, column, report);
    return absl::OkStatus();
  }
  report.problems.push_back(absl::StrCat(
      column, " counts ", NameOf(*likely), ", it seems: as ", NameOf(unit), " the middle one of ",
      seen->times, " rows seen is of ", Day(seen->median), ", as ", NameOf(*likely), " of ",
      Day(InOtherUnit(seen->median, unit)), "; set ts_unit: ", NameOf(*likely)));
  report.is_server_fit = false;
  return absl::OkStatus();
}

std::string SecondsExpression(const TableDefinition& table) {
  if (!table.ts.has_value()) return "extract(epoch FROM pg_xact_commit_timestamp(t.xmin))";
  const std::string column = absl::StrCat("t.", QuoteName(table.ts->name));
  if (table.ts_source != TsSource::kEpochNumber) {
    return absl::StrCat("extract(epoch FROM ", InstantOfColumn(table, column), ")");
  }
  const bool is_millis = table.config.ts_unit == EpochUnit::kMilliseconds;
  return absl::StrCat("(", column, "::numeric", is_millis ? " / 1000" : "", ")");
}

}  // namespace ttl::postgres
