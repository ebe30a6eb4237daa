#ifndef TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_
#define TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/table_definition.h"

// What on_expiry: archive and on_expiry: mark do to an expired row, as parts of SQL statements.
namespace ttl::postgres {

// The archive table, as SQL takes it.
std::string ArchiveName(const TableConfig& table);

// All columns of the row t, under the names that InsertIntoArchive() has for them.
std::string MovedColumns(const TableDefinition& table);

// Inserts what `moved`, a relation with the columns of MovedColumns(), has. Names and operators do
// not depend on the search path.
std::string InsertIntoArchive(const TableDefinition& table, absl::string_view moved);

// An SQL text that tells apart what the columns of a table and of its archive are (names, types,
// and which are generated), what the archive is (a table, a view, unlogged, a partition), and its
// rules. REQUIRES: only pg_catalog is in the search path.
std::string ArchiveSignature(const TableConfig& table);

// An SQL text: how many rows of the archive and its partitions this session has deleted, as far as
// the server counts; it grows only, while a transaction lasts. Always the same if track_counts is
// off.
std::string RemovedRowsOfArchive(const TableConfig& table);

// An SQL query of the oids of a table and its partitions, which locks none of them.
std::string PartitionsOf(absl::string_view oid);

// mark_value as a value of the mark_column; `text` is an SQL text with it.
std::string MarkValue(const TableDefinition& table, absl::string_view text);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_
