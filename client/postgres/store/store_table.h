#ifndef TTL_CLIENT_POSTGRES_STORE_STORE_TABLE_H_
#define TTL_CLIENT_POSTGRES_STORE_STORE_TABLE_H_

#include <optional>

#include "client/postgres/row/row_select.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_rows.h"
#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/deletes/delete_sql.h"
#include "client/postgres/store/deletes/group_sql.h"

namespace ttl::postgres {

// A table, or the groups of one or several tables, that backs a container, with the SQL that reads
// and deletes its items. Immutable.
struct StoreTable {
  explicit StoreTable(const TableDefinition& table)
      : definition(GroupsAsRows(table)), select(definition), sql(definition, select) {
    if (IsGroup(table)) group_sql.emplace(table, sql);
  }

  const TableDefinition definition;
  const RowSelect select;
  const DeleteSql sql;
  std::optional<GroupSql> group_sql;  // of groups only
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_STORE_TABLE_H_
