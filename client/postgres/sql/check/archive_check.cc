#include "client/postgres/sql/check/archive_check.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/archive_fit.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// Cascading foreign keys, including those to a partition, and those to a table whose rows are
// deleted by cascade. Parameter: oid.
constexpr char kDeletingKeys[] = R"(
  WITH RECURSIVE emptied AS (
    SELECT $1::oid AS oid
    UNION
    SELECT next.oid FROM emptied AS e CROSS JOIN LATERAL (
      SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = e.oid
      UNION ALL
      SELECT conrelid FROM pg_constraint
      WHERE confrelid = e.oid AND contype = 'f' AND confdeltype = 'c') AS next)
  SELECT string_agg(format('%I of %s', conname, conrelid::regclass), ', ' ORDER BY conname)
  FROM pg_constraint JOIN emptied AS e ON e.oid = confrelid
  WHERE contype = 'f' AND conparentid = 0 AND confdeltype = 'c')";

}  // namespace

absl::Status CheckArchive(Connection& connection, const TableDefinition& table,
                          CatalogReport& report) {
  if (!table.archive.has_value()) return absl::OkStatus();
  const std::string name =
      absl::StrCat("table ", table.config.schema, ".", table.configured_table, ": ");
  std::vector<std::string> problems = table.archive->unfit;
  if (problems.empty()) {
    TTL_ASSIGN_OR_RETURN(const auto refusals, WhyArchiveMayRefuse(connection, table.config));
    problems = refusals;
  }
  for (const std::string& problem : problems) {
    report.archive_problems.push_back(absl::StrCat(name, problem));
  }
  TTL_ASSIGN_OR_RETURN(const auto keys, connection.Query(kDeletingKeys, {absl::StrCat(table.oid)}));
  if (!keys.Value(0, 0).has_value()) return absl::OkStatus();
  report.warnings.push_back(absl::StrCat(
      name,
      "rows that refer to one that expires are deleted with it, and not moved, by foreign "
      "keys with ON DELETE CASCADE: ",
      keys.Text(0, 0), "; a trigger of those tables may keep them"));
  return absl::OkStatus();
}

}  // namespace ttl::postgres
