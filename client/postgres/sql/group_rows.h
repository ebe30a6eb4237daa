#ifndef TTL_CLIENT_POSTGRES_SQL_GROUP_ROWS_H_
#define TTL_CLIENT_POSTGRES_SQL_GROUP_ROWS_H_

#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// The groups as rows: a definition that names a query instead of a table. Its one time is in whole
// seconds, and NULL if the group never expires. The row has no xmin, so the item has no etag. Rows
// that are condemned are not part of a group. A
// table without groups is returned as it is.
TableDefinition GroupsAsRows(const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_GROUP_ROWS_H_
