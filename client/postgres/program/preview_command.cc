#include "client/postgres/program/preview_command.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/sql/check/times_check.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/visibility.h"
#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

struct PreviewOptions {
  int64_t default_ttl = 0;
  std::string container;  // empty: all
};

std::string OfRow(const ColumnDefinition& column) {
  return absl::StrCat("t.", QuoteName(column.name));
}

// What a row lives for that has no ttl of its own.
std::string InheritedLife(const TableDefinition& table, int64_t default_ttl) {
  if (!table.expires.has_value()) return absl::StrCat(default_ttl, "::bigint");
  if (table.config.expires_null == NullEnd::kNever) return "-1::bigint";
  return absl::StrCat("CASE WHEN ", OfRow(*table.expires), " IS NULL THEN ", default_ttl,
                      "::bigint ELSE -1 END");
}

// The seconds that a row lives from its _ts on; -1: for ever, an illegal ttl included.
std::string LifeExpression(const TableDefinition& table, int64_t default_ttl) {
  const std::string inherited = InheritedLife(table, default_ttl);
  if (!table.ttl.has_value()) return inherited;
  const std::string ttl = OfRow(*table.ttl);
  return absl::StrCat("CASE WHEN ", ttl, " IS NULL THEN ", inherited, " WHEN ", ttl,
                      " BETWEEN 1 AND ", kMaxTtl, " THEN ", ttl, "::bigint ELSE -1 END");
}

// When it ends whatever its _ts is; 0: at a time that is not legal. With an illegal ttl it never
// does.
std::string EndExpression(const TableDefinition& table) {
  if (!table.expires.has_value()) return "NULL::bigint";
  std::string end = ExpireAtOfRow(table, OfRow(*table.expires));
  if (!table.ttl.has_value()) return end;
  const std::string ttl = OfRow(*table.ttl);
  return absl::StrCat("CASE WHEN ", ttl, " IS NULL OR ", ttl, " = -1 OR ", ttl, " BETWEEN 1 AND ",
                      kMaxTtl, " THEN ", end, " END");
}

// Else when its rows end is all that there is.
bool SaysWrittenAt(const TableDefinition& table) { return table.ts_source != TsSource::kNone; }

// Rows without a _ts, with one before 1970-01-01 00:00:01 or more than a day ahead, or with an end
// that is not legal are not tracked.
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
      "count(*) FILTER (WHERE inside AND s IS NULL), count(*) FILTER (WHERE NOT inside) "
      "FROM (SELECT *, inside AND s >= 1 AND s <= now + 86400 AND e IS DISTINCT FROM 0 AS ok, "
      "least(CASE WHEN life > 0 THEN s + life END, e) AS ends FROM (SELECT floor(",
      SecondsExpression(table), ")::float8 AS s, ", EndExpression(table), " AS e, ",
      LifeExpression(table, default_ttl),
      " AS life, floor(extract(epoch FROM now()))::float8 AS now, ", where, " AS inside FROM ",
      QuoteQualified(table.config.schema, table.config.table), " AS t) AS seen) AS rows");
}

absl::Status PreviewTable(Connection& connection, const TableDefinition& table, int64_t default_ttl,
                          Output output) {
  const auto counts = connection.Query(PreviewQuery(table, default_ttl));
  if (!counts.ok()) return counts.status();
  const bool expects_nulls = table.config.null_means == NullMeans::kNever;
  const int64_t expected_nulls = expects_nulls ? counts->Number(0, 6) : 0;
  const int64_t outside = counts->Number(0, 7);
  output.out
      << table.config.container << ": " << counts->Text(0, 0) << " rows, "
      << (SaysWrittenAt(table) ? "written" : "ending") << " from " << counts->Text(0, 4) << " to "
      << counts->Text(0, 5) << "\n"
      << "  with default_ttl " << default_ttl << ": " << counts->Text(0, 2)
      << " rows are hidden at once, and deleted after the grace of an adoption\n"
      << "  " << counts->Text(0, 3) << " rows never expire; "
      << counts->Number(0, 0) - counts->Number(0, 1) - expected_nulls - outside
      << (table.expires.has_value()
              ? " rows cannot be tracked (no _ts, or a _ts or an end that is impossible) and stay\n"
              : " rows cannot be tracked (no _ts, or an impossible one) and stay\n");
  if (!table.config.where.empty()) {
    output.out << "  " << outside << " rows are outside its where, and never expire\n";
  }
  if (expects_nulls) {
    output.out << "  " << expected_nulls
               << " rows have no time, and never expire (null_means: never)\n";
  }
  return absl::OkStatus();
}

ExitCode Preview(const Config& config, Output output, const PreviewOptions& options) {
  if (options.default_ttl == 0) {
    PrintError(output,
               "--default-ttl is 0: must be -1, or 1 to 2147483647 (see ttl-postgres --help)");
    return ExitCode::kUsage;
  }
  const absl::StatusOr<DatabaseCheck> database = CheckDatabase(config);
  if (!database.ok()) return Fail(output, database.status());
  PrintReport(database->report, output);
  if (!database->report.problems.empty()) return ExitCode::kRefused;
  bool is_found = false;
  for (const TableDefinition& table : database->report.tables) {
    if (!options.container.empty() && table.config.container != options.container) continue;
    is_found = true;
    const absl::Status status =
        PreviewTable(*database->connection, table, options.default_ttl, output);
    if (!status.ok()) return Fail(output, status);
  }
  if (is_found) return ExitCode::kOk;
  PrintError(output,
             absl::StrCat("the configuration has no container \"", options.container, "\""));
  return ExitCode::kRefused;
}

}  // namespace

void AddPreviewCommand(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<PreviewOptions>();
  CLI::App* const command = app.add_subcommand(
      "preview", "Count the rows that a default_ttl would hide and delete, without changing it");
  command
      ->add_option("--default-ttl", options->default_ttl,
                   "default_ttl to preview, in seconds; -1: only rows with their own ttl expire")
      ->type_name("SECONDS")
      ->required()
      ->check(CLI::Range(kNeverExpires, kMaxTtl));
  command
      ->add_option("--container", options->container,
                   "Preview only the table of this container; default: all tables")
      ->type_name("CONTAINER");
  command->callback([options, &chosen] {
    chosen = [options](const Config& config, Output output) {
      return Preview(config, output, *options);
    };
  });
}

}  // namespace ttl::postgres
