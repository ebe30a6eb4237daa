#include "client/postgres/sql/check/catalog.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/check/server_check.h"
#include "client/postgres/sql/check/table_check.h"
#include "client/postgres/sql/group.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

absl::Status AddTable(Connection& connection, const Config& config, const TableConfig& table,
                      CatalogReport& report) {
  CatalogReport of_table;
  TTL_RETURN_IF_ERROR(CheckTable(connection, config, table, of_table));
  for (const std::string& problem : of_table.problems) report.LeaveOut(table.container, problem);
  std::move(of_table.tables.begin(), of_table.tables.end(), std::back_inserter(report.tables));
  std::move(of_table.warnings.begin(), of_table.warnings.end(),
            std::back_inserter(report.warnings));
  std::move(of_table.notes.begin(), of_table.notes.end(), std::back_inserter(report.notes));
  return absl::OkStatus();
}

// Two tables with different names may be the same table, or one a partition of the other.
absl::Status RefuseOverlaps(Connection& connection, CatalogReport& report) {
  const std::vector<TableDefinition> tables = AllTables(report.tables);
  if (tables.size() < 2) return absl::OkStatus();
  const std::string oids = absl::StrJoin(
      tables, ",",
      [](std::string* out, const TableDefinition& table) { absl::StrAppend(out, table.oid); });
  TTL_ASSIGN_OR_RETURN(
      QueryResult overlaps,
      connection.Query(
          "SELECT part::regclass, relid::regclass, part FROM unnest($1::oid[]) AS part, "
          "pg_partition_ancestors(part::regclass) WHERE relid <> part AND relid = ANY ($1::oid[])",
          {absl::StrCat("{", oids, "}")}));
  for (int row = 0; row < overlaps.rows(); ++row) {
    const auto part = std::find_if(tables.begin(), tables.end(), [&](const TableDefinition& table) {
      return table.oid == overlaps.Number(row, 2);
    });
    if (part == tables.end()) continue;
    report.LeaveOut(
        std::string(part->config.container),
        absl::StrCat("table ", overlaps.Text(row, 0), " is a partition of ", overlaps.Text(row, 1),
                     ", which is a container too; leave one of them out"));
  }
  return absl::OkStatus();
}

// ParseConfig() refuses repeated tables, but a Config may come from elsewhere.
void RefuseRepeatedTables(const Config& config, CatalogReport& report) {
  std::vector<TableConfig> tables;
  for (const TableConfig& table : config.tables) {
    tables.push_back(table);
    tables.insert(tables.end(), table.members.begin(), table.members.end());
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const TableConfig& one = tables[j];
      const TableConfig& other = tables[i];
      if (one.schema != other.schema || one.table != other.table) continue;
      report.problems.push_back(absl::StrCat("table ", one.schema, ".", one.table,
                                             " is given for two containers, ", one.container,
                                             " and ", other.container, "; leave one of them out"));
    }
  }
}

}  // namespace

absl::StatusOr<CatalogReport> CheckCatalog(Connection& connection, const Config& config) {
  CatalogReport report;
  TTL_ASSIGN_OR_RETURN(bool is_fit, CheckServer(connection, config, report));
  if (!is_fit) return report;
  RefuseRepeatedTables(config, report);
  report.is_server_fit = report.problems.empty();
  for (const TableConfig& table : config.tables) {
    TTL_RETURN_IF_ERROR(AddTable(connection, config, table, report));
  }
  TTL_RETURN_IF_ERROR(RefuseOverlaps(connection, report));
  return report;
}

}  // namespace ttl::postgres
