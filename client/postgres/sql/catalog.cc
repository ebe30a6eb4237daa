#include "client/postgres/sql/catalog.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/server_check.h"
#include "client/postgres/sql/table_check.h"

namespace ttl::postgres {
namespace {

// Two that go by different names may still be one, or one a part of the other.
absl::Status RefuseOverlaps(Connection& connection, CatalogReport& report) {
  if (report.tables.size() < 2) return absl::OkStatus();
  const std::string oids = absl::StrJoin(
      report.tables, ",",
      [](std::string* out, const TableDefinition& table) { absl::StrAppend(out, table.oid); });
  absl::StatusOr<QueryResult> overlaps = connection.Query(
      "SELECT part::regclass, relid::regclass FROM unnest($1::oid[]) AS part, "
      "pg_partition_ancestors(part::regclass) WHERE relid <> part AND relid = ANY ($1::oid[])",
      {absl::StrCat("{", oids, "}")});
  if (!overlaps.ok()) return overlaps.status();
  for (int row = 0; row < overlaps->rows(); ++row) {
    report.problems.push_back(absl::StrCat("table ", overlaps->Text(row, 0), " is a partition of ",
                                           overlaps->Text(row, 1),
                                           ", which is a container too; leave one of them out"));
  }
  return absl::OkStatus();
}

// ParseConfig() refuses it, but a Config may come from elsewhere.
void RefuseRepeatedTables(const Config& config, CatalogReport& report) {
  for (size_t i = 0; i < config.tables.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const TableConfig& one = config.tables[j];
      const TableConfig& other = config.tables[i];
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
  absl::StatusOr<bool> is_fit = CheckServer(connection, config, report);
  if (!is_fit.ok()) return is_fit.status();
  if (!*is_fit) return report;
  RefuseRepeatedTables(config, report);
  for (const TableConfig& table : config.tables) {
    if (absl::Status status = CheckTable(connection, config, table, report); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = RefuseOverlaps(connection, report); !status.ok()) return status;
  return report;
}

}  // namespace ttl::postgres
