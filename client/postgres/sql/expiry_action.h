#ifndef TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_
#define TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/table_definition.h"

// SQL of the actions of on_expiry, and of the message that tells them from the application's.
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

// The function of PostgreSQL that EmitMessage() calls, with its argument types.
inline constexpr absl::string_view kEmitFunction =
    "pg_catalog.pg_logical_emit_message(boolean, text, text)";

// An SQL expression that writes a transactional logical message into the WAL: this transaction has
// acted on `count` items of the table because they had expired. See client/postgres/wal.md. Names
// do not depend on the search path.
std::string EmitMessage(const TableConfig& table, int64_t count);

// The same of a transaction that deletes rows of a condemned group, see group_condemned.h. Its
// count is 0: the transaction that condemned the group has counted it.
std::string EmitPieceMessage(const TableConfig& table);

// The same in the trigger of replace_expired, for one row.
std::string EmitReplacingMessage(const TableConfig& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_EXPIRY_ACTION_H_
