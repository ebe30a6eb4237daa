#ifndef TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_
#define TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/table_definition.h"

// SQL of the actions of on_expiry: archive and on_expiry: mark.
namespace ttl::postgres {

// Quoted and qualified name of the archive table.
std::string ArchiveName(const TableConfig& table);

// All columns of the row t, with the aliases that InsertIntoArchive() expects.
std::string MovedColumns(const TableDefinition& table);

// Inserts the rows of `moved`, a relation with the columns of MovedColumns(). Names and operators
// do not depend on the search path.
std::string InsertIntoArchive(const TableDefinition& table, absl::string_view moved);

// An SQL text that changes with the columns of a table or of its archive (names, types, and which
// are generated), with the kind of the archive (a table, a view, unlogged, a partition), or with
// its rules. REQUIRES: only pg_catalog is in the search path.
std::string ArchiveSignature(const TableConfig& table);

// An SQL number of the rows of the archive and its partitions that this session has deleted,
// according to the statistics of the server; it never decreases within a transaction. Constant if
// track_counts is off.
std::string RemovedRowsOfArchive(const TableConfig& table);

// An SQL query of the oids of a table and its partitions, which takes no lock on them.
std::string PartitionsOf(absl::string_view oid);

// Casts `text`, an SQL text with the mark_value, to the type of the mark_column.
std::string MarkValue(const TableDefinition& table, absl::string_view text);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_
