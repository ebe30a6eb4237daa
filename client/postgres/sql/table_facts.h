#ifndef TTL_CLIENT_POSTGRES_SQL_TABLE_FACTS_H_
#define TTL_CLIENT_POSTGRES_SQL_TABLE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/key_type.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Catalog facts of a column.
struct ColumnFacts {
  std::string name;
  int number = 0;    // attnum
  std::string type;  // declared type
  std::string cast;  // base type below all domains, for use in a cast
  BaseType base;
  bool not_null = false;
  bool is_generated = false;
  bool is_deterministic = true;  // true without a collation too
};

// A unique index that covers all rows, is checked immediately, and has no expressions.
struct UniqueIndexFacts {
  std::string name;                  // quoted, without its schema
  std::vector<std::string> columns;  // in index order
  bool gives_order = false;          // ORDER BY these columns can use it
};

// Replica identity of a table that stores rows: the table itself, or one of its partitions. A
// partitioned table has one more, which new partitions will have.
struct IdentityFacts {
  std::string table;  // quoted and qualified
  bool is_root = false;
  char kind = 'r';         // pg_class.relkind
  char persistence = 'p';  // pg_class.relpersistence
  char identity = 'd';     // pg_class.relreplident
  std::vector<std::string> columns;
};

// Catalog facts of a table, and the rights of our role to it.
struct TableFacts {
  uint32_t oid = 0;
  char kind = 'r';
  char persistence = 'p';
  bool is_system = false;
  bool has_children = false;  // inheriting tables that are not partitions
  std::string owner;
  bool is_owner = false;        // our role is the owner or a member of it
  bool owner_may_emit = false;  // logical messages
  std::string role;             // our role
  bool may_use_schema = false;
  bool may_select = false;
  bool may_update = false;  // on at least one column
  bool may_delete = false;
  bool has_row_security = false;
  bool forces_row_security = false;
  bool is_bound_by_row_security = false;  // row-level security applies to our role
  bool has_policies_of_others = false;
  bool is_published = false;  // in our publication
  // Published columns; absent: all.
  std::optional<std::vector<std::string>> published_columns;
  std::string unfit_where;         // why `where` cannot be parsed; empty: it can
  std::string unfit_zone;          // why ts_zone cannot be used; empty: it can
  std::string unfit_expires_zone;  // why expires_zone cannot be used; empty: it can
  // Foreign keys to the table that refuse a delete, with their tables.
  std::vector<std::string> refusing_keys;
  // Foreign keys to the table without an index on the referring columns, with their tables.
  std::vector<std::string> unindexed_keys;
  // Quoted unique indexes and exclusion constraints that two rows with different keys may violate.
  std::vector<std::string> uniques_beside_key;
  // Quoted rules that rewrite a DELETE of its rows.
  std::vector<std::string> delete_rules;
  // Views of others that read the table itself, quoted and qualified.
  std::vector<std::string> views_of_others;
  // Whether our role may create the live view, including its schema.
  bool may_make_view = false;
  // Whether the search_path setting of a role or of the database has the schema of the view before
  // that of the table.
  bool is_view_schema_searched = false;
  std::string database;
  // Whether another relation has the name of the live view, whether it is our view, and which
  // columns of the table it lacks.
  bool has_view = false;
  bool is_view_ours = false;
  std::vector<std::string> view_lacks;

  // With on_expiry: archive only.
  std::optional<ArchiveDefinition> archive;

  std::vector<ColumnFacts> columns;
  std::vector<UniqueIndexFacts> unique_indexes;
  // Of each valid btree index of all rows: its columns up to the first expression, in index order.
  std::vector<std::vector<std::string>> indexes;
  std::vector<IdentityFacts> identities;

  const ColumnFacts* Find(const std::string& column) const;
};

// Names for a lookup.
struct TableLookup {
  std::string schema;
  std::string table;
  std::string live_view;         // may be empty
  std::string view_schema;       // schema of that view
  std::vector<std::string> key;  // columns of the partition key and the id
  std::string publication;       // our publication
  std::string mark;              // CommentMark()
  // Names of the tables of its group, quoted and qualified, whose foreign keys do not count among
  // `refusing_keys`.
  std::vector<std::string> group = {};
};

// Reads the facts of a table; absent if it does not exist.
absl::StatusOr<std::optional<TableFacts>> LookUpTable(Connection& connection,
                                                      const TableLookup& lookup);

// Whether our role can read a table of our own schema; false if the table does not exist.
absl::StatusOr<bool> CanReadOwnTable(Connection& connection, const std::string& own_schema,
                                     const std::string& table);

// The current name of the table whose name, `table`, install gave to its view, as recorded in the
// table `renamed` of `own_schema`; absent: not renamed, or the record cannot be read.
absl::StatusOr<std::optional<std::string>> LookUpRenamed(Connection& connection,
                                                         const std::string& own_schema,
                                                         const std::string& schema,
                                                         const std::string& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_TABLE_FACTS_H_
