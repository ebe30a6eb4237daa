#include "client/postgres/sql/group.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"

namespace ttl::postgres {

bool IsGroup(const TableDefinition& table) { return table.group != 0; }

bool HasTimes(const TableDefinition& table) {
  return table.ts.has_value() || table.expires.has_value();
}

std::vector<const TableDefinition*> TablesOf(const TableDefinition& table) {
  std::vector<const TableDefinition*> tables = {&table};
  for (const TableDefinition& member : table.members) tables.push_back(&member);
  return tables;
}

std::vector<TableDefinition> AllTables(absl::Span<const TableDefinition> tables) {
  std::vector<TableDefinition> all;
  for (const TableDefinition& table : tables) {
    for (const TableDefinition* one : TablesOf(table)) all.push_back(*one);
  }
  return all;
}

std::string LockGroup(const TableDefinition& table, absl::string_view function,
                      absl::Span<const std::string> key) {
  // The hash of a record is that of its values, whatever the settings of the session. The oid wraps
  // as a signed number does.
  return absl::Substitute(
      "pg_catalog.$0($1, pg_catalog.hash_record(ROW($2)) OPERATOR(pg_catalog.&) $3)", function,
      static_cast<int32_t>(table.group), absl::StrJoin(key, ", "), kGroupLocks - 1);
}

std::string GroupIsLiveName(const TableDefinition& table, absl::string_view schema) {
  return QuoteQualified(schema, absl::StrCat("group_is_live_", table.group));
}

}  // namespace ttl::postgres
