#include "client/postgres/program/database_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "client/postgres/sql/check/archive_check.h"
#include "client/postgres/sql/check/mark_check.h"
#include "client/postgres/sql/check/replication_check.h"
#include "client/postgres/sql/check/times_check.h"
#include "client/postgres/sql/check/where_check.h"
#include "client/postgres/sql/group.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

std::string OnOneLine(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\r\n", " "}, {"\n", " "}});
}

// Compares the table as configured, because it may have been renamed since.
bool HasTable(const Config* config, const TableDefinition& table) {
  if (config == nullptr) return false;
  TableConfig configured = table.config;
  configured.table = table.configured_table;
  return std::find(config->tables.begin(), config->tables.end(), configured) !=
         config->tables.end();
}

absl::Status CheckTable(Connection& connection, const TableDefinition& table, absl::Time now,
                        CatalogReport& report) {
  TTL_RETURN_IF_ERROR(CheckWhere(connection, table, report));
  // The following checks read the rows that satisfy `where`, so it must be usable.
  if (report.left_out.contains(table.config.container)) return absl::OkStatus();
  for (const TableDefinition* one : TablesOf(table)) {
    if (report.left_out.contains(table.config.container)) break;
    TTL_RETURN_IF_ERROR(CheckTimes(connection, *one, now, report));
    TTL_RETURN_IF_ERROR(CheckEnds(connection, *one, now, report));
  }
  TTL_RETURN_IF_ERROR(CheckArchive(connection, table, report));
  return CheckMark(connection, table, report);
}

}  // namespace

absl::StatusOr<DatabaseCheck> CheckDatabase(const Config& config, absl::Time now,
                                            const CheckOptions& options) {
  TTL_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                       Connection::Open(config.database, "ttl-postgres", Connection::Kind::kQueries,
                                        options.breaker));
  TTL_RETURN_IF_ERROR(connection->Execute(Connection::kSystemNamesOnly).status());
  TTL_ASSIGN_OR_RETURN(CatalogReport report, CheckCatalog(*connection, config));
  if (report.is_server_fit) {
    const bool is_other_address =
        options.running != nullptr &&
        options.running->replication_address() != config.replication_address();
    TTL_RETURN_IF_ERROR(
        CheckReplication(*connection, config, is_other_address, options.breaker, report));
  }
  TTL_RETURN_IF_ERROR(CheckTables(*connection, now, report, [&](const TableDefinition& table) {
    return !HasTable(options.checked, table);
  }));
  return DatabaseCheck{std::move(connection), std::move(report)};
}

absl::Status CheckTables(Connection& connection, absl::Time now, CatalogReport& report,
                         absl::FunctionRef<bool(const TableDefinition&)> is_due) {
  for (const TableDefinition& table : std::vector<TableDefinition>(report.tables)) {
    if (is_due(table)) TTL_RETURN_IF_ERROR(CheckTable(connection, table, now, report));
  }
  return absl::OkStatus();
}

void PrintReport(const CatalogReport& report, Output output) {
  for (const auto* problems : {&report.problems, &report.archive_problems}) {
    for (const std::string& problem : *problems) {
      output.err << "problem: " << OnOneLine(problem) << "\n";
    }
  }
  for (const std::string& warning : report.warnings) {
    output.err << "warning: " << OnOneLine(warning) << "\n";
  }
  for (const std::string& note : report.notes) {
    output.err << "note: " << OnOneLine(note) << "\n";
  }
}

}  // namespace ttl::postgres
