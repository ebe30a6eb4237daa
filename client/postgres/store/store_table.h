#ifndef TTL_CLIENT_POSTGRES_STORE_STORE_TABLE_H_
#define TTL_CLIENT_POSTGRES_STORE_STORE_TABLE_H_

#include <utility>

#include "client/postgres/row/row_select.h"
#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/deletes/delete_sql.h"

namespace ttl::postgres {

// A table that backs a container, with the SQL that reads and deletes its rows. Immutable.
struct StoreTable {
  explicit StoreTable(TableDefinition table)
      : definition(std::move(table)), select(definition), sql(definition, select) {}

  const TableDefinition definition;
  const RowSelect select;
  const DeleteSql sql;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_STORE_TABLE_H_
