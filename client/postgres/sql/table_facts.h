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

// What the catalogue says of a column.
struct ColumnFacts {
  std::string name;
  int number = 0;    // attnum
  std::string type;  // as it was declared
  std::string cast;  // the type below its domains, as a cast takes it
  BaseType base;
  bool not_null = false;
  bool is_generated = false;
  bool is_deterministic = true;  // its collation; also if it has none
};

// A unique index that holds for all rows at any time, and is on columns alone.
struct UniqueIndexFacts {
  std::string name;                  // as SQL takes it, without its schema
  std::vector<std::string> columns;  // in its order
  bool gives_order = false;          // ORDER BY these columns can read it
};

// The replica identity of a table that rows are in: the table, or one of its partitions. For
// a partitioned table there is one more, that which new partitions will have.
struct IdentityFacts {
  std::string table;  // as SQL takes it
  bool is_root = false;
  char kind = 'r';         // pg_class.relkind
  char persistence = 'p';  // pg_class.relpersistence
  char identity = 'd';     // pg_class.relreplident
  std::vector<std::string> columns;
};

// What the catalogue says of a table, and of our role's rights to it.
struct TableFacts {
  uint32_t oid = 0;
  char kind = 'r';
  char persistence = 'p';
  bool is_system = false;
  bool has_children = false;  // that inherit from it, and are no partitions
  std::string owner;
  bool is_owner = false;  // or a member of the owner
  std::string role;       // ours
  bool may_use_schema = false;
  bool may_select = false;
  bool may_update = false;  // at least one column
  bool may_delete = false;
  bool has_row_security = false;
  bool forces_row_security = false;
  bool is_bound_by_row_security = false;  // our role, where it is on
  bool has_policies_of_others = false;
  bool is_published = false;  // in our publication
  // The columns that it publishes of it; absent: all.
  std::optional<std::vector<std::string>> published_columns;
  std::string unfit_where;         // why the table's `where` cannot be read; empty: it can
  std::string unfit_zone;          // why the table's ts_zone cannot be used; empty: it can
  std::string unfit_expires_zone;  // the same of its expires_zone
  // Foreign keys to it that refuse a delete, with their tables.
  std::vector<std::string> refusing_keys;
  // Foreign keys to it without an index that finds the referring rows, with their tables.
  std::vector<std::string> unindexed_keys;
  // Unique indexes and exclusion constraints by which two rows of different keys may be in each
  // other's way, as SQL takes them.
  std::vector<std::string> uniques_beside_key;
  // Rules that rewrite a DELETE of its rows; as SQL takes them.
  std::vector<std::string> delete_rules;
  // Views of others that read it by itself, as SQL takes them.
  std::vector<std::string> views_of_others;
  // Whether our role may make the live view, its schema included.
  bool may_make_view = false;
  // Whether a role or the database searches the schema of the view before that of the table.
  bool is_view_schema_searched = false;
  std::string database;
  // Of the relation beside it that has the name of the live view: whether there is one, whether it
  // is ours, and which columns of the table it lacks.
  bool has_view = false;
  bool is_view_ours = false;
  std::vector<std::string> view_lacks;

  // Of a table with on_expiry: archive.
  std::optional<ArchiveDefinition> archive;

  std::vector<ColumnFacts> columns;
  std::vector<UniqueIndexFacts> unique_indexes;
  std::vector<IdentityFacts> identities;

  const ColumnFacts* Find(const std::string& column) const;
};

// What a lookup names.
struct TableLookup {
  std::string schema;
  std::string table;
  std::string live_view;         // may be empty
  std::string view_schema;       // of that view
  std::vector<std::string> key;  // the columns of partition key and id
  std::string publication;       // ours
  std::string mark;              // how comments of ours begin
};

// Absent: there is no such table.
absl::StatusOr<std::optional<TableFacts>> LookUpTable(Connection& connection,
                                                      const TableLookup& lookup);

// Whether our role can read a table of our own schema; false too if there is none.
absl::StatusOr<bool> CanReadOwnTable(Connection& connection, const std::string& own_schema,
                                     const std::string& table);

// The name of the table whose name install gave to a view, as the table `renamed` in `own_schema`
// has noted it; absent: there is none.
absl::StatusOr<std::optional<std::string>> LookUpRenamed(Connection& connection,
                                                         const std::string& own_schema,
                                                         const std::string& schema,
                                                         const std::string& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_TABLE_FACTS_H_
