#ifndef TTL_CLIENT_POSTGRES_SQL_GROUP_CASCADES_H_
#define TTL_CLIENT_POSTGRES_SQL_GROUP_CASCADES_H_

#include <string>

#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// A query of the foreign keys by which the delete of a group deletes or changes rows of other
// groups, whose locks it does not hold: those that act on a delete without the columns of group_by
// on both sides, and those that come back to a table of the group from other tables. Columns: name
// of the key, its table, the table that it refers to. Run it with the system's search path.
// REQUIRES: the first table of a group.
std::string CascadesToOtherGroups(const TableDefinition& group);

// A query of the foreign keys between tables of a group. Columns: oid of the table that is referred
// to; a condition that no row of the other refers to row t of it; whether the two are the same
// table. Run it with the system's search path.
std::string KeysWithinGroup(const TableDefinition& group);

// Why a group whose tables have a key of the last kind cannot be deleted in pieces.
inline constexpr char kRefersToItself[] =
    "the group is too large for one transaction, and cannot be deleted in pieces, since a table of "
    "it has a foreign key to itself: raise statement_timeout";

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_GROUP_CASCADES_H_
