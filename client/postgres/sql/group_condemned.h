#ifndef TTL_CLIENT_POSTGRES_SQL_GROUP_CONDEMNED_H_
#define TTL_CLIENT_POSTGRES_SQL_GROUP_CONDEMNED_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/postgres/sql/table_definition.h"

// Condemned groups: a group that is too large for one transaction counts as deleted from a moment
// on. The rows that it has then are condemned: they stay hidden, whatever is written later, and are
// deleted in pieces. A row that is written later begins a new group of the same key. Each condemned
// group has an entry in the table `condemned` of our own schema until its last row is gone:
//   relation    oid of the first table of the group.
//   hash        LockGroup()'s hash of the key, by which the entry is found.
//   key         texts of the columns of group_by, in the session settings of Connection.
//   before_xid  a row is condemned if its writer, as a 64-bit number, is lower. An UPDATE makes a
//               row part of the new group.
//   system      system_identifier of the server: the numbers mean nothing to another.
//   since, fault  when it was condemned, and why the last piece could not be deleted.
//
// `before_xid` is the oldest transaction that was open under the exclusive lock of the group: no
// later row can have a lower writer, not even one of a savepoint that was open then, whose number
// pg_visible_in_snapshot() would not know. A group that has rows of other writers is not condemned.
namespace ttl::postgres {

// "schema"."condemned".
std::string CondemnedTable(absl::string_view schema);

// Returns the SQL that creates the table. All roles may read the oids in it, which the views do,
// but not the keys.
std::string CondemnedTableSql(absl::string_view schema);

// A condition on an entry c: it is that of the group of `table` with this key, the SQL of its
// columns.
std::string IsEntryOf(const TableDefinition& table, absl::Span<const std::string> key);

// Whether row `row` was written by a transaction lower than `before_xid`, SQL of type bigint. If in
// doubt, it was not: a row keeps the lower 32 bits of its writer, and one that was not written for
// four billion transactions may look newer than it is.
std::string IsWrittenBefore(absl::string_view row, absl::string_view before_xid);

// The same of the SQL of an xid.
std::string IsBefore(absl::string_view xid, absl::string_view before_xid);

// Whether row `row` of `table` is not condemned, for a role that may read the keys.
std::string IsNotCondemned(const TableDefinition& table, absl::string_view schema,
                           absl::string_view row);

// The same for every role, by the function IsCondemnedName(). While no group of the table is
// condemned, the function is not called.
std::string IsNotCondemnedForReaders(const TableDefinition& table, absl::string_view schema,
                                     absl::string_view row);

// "schema"."name" of the function that tells whether a row is condemned. Its arguments are the
// columns of the group, and xmin.
std::string IsCondemnedName(const TableDefinition& table, absl::string_view schema);

// system_identifier of the server, as SQL.
std::string SystemIdentifier();

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_GROUP_CONDEMNED_H_
