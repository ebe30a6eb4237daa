#ifndef TTL_CLIENT_POSTGRES_SQL_TABLE_DEFINITION_H_
#define TTL_CLIENT_POSTGRES_SQL_TABLE_DEFINITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/stated_zone.h"

namespace ttl::postgres {

// A column of the table that ttl-postgres uses.
struct ColumnDefinition {
  std::string name;
  // Type for use in a cast: "character varying(20)", "ttl_demo.\"Kind\"". For a domain, its base
  // type: an existing row may violate the constraints of the domain, which a cast would check.
  std::string type;
  bool nullable = false;

  friend bool operator==(const ColumnDefinition&, const ColumnDefinition&) = default;
};

// Source of `_ts`.
enum class TsSource {
  kNone,         // no column; rows have an expire time, or follow the rows of their group
  kCommitTime,   // no column; the commit time
  kTimestamp,    // timestamp with time zone
  kReading,      // timestamp without time zone, in the configured zone
  kEpochNumber,  // an integer, in the configured unit
};

// Type of the expires_column.
enum class EndSource {
  kTimestamp,    // timestamp with time zone
  kReading,      // timestamp without time zone, in the configured zone
  kDate,         // date, in the configured zone
  kEpochNumber,  // an integer, in the configured unit
};

// How to move the rows of a table with on_expiry: archive.
struct ArchiveDefinition {
  std::vector<std::string> columns;  // all columns of the table, in its order
  std::string signature;             // ArchiveSignature(), read with `columns`
  std::vector<std::string> unfit;    // why no row can be moved: WhyArchiveIsUnfit()

  friend bool operator==(const ArchiveDefinition&, const ArchiveDefinition&) = default;
};

// One table, which is one container: its configuration, checked against the catalog.
struct TableDefinition {
  TableConfig config;            // `table` is the current name of the table
  std::string configured_table;  // name in the file; differs while the table is renamed
  std::string own_schema;        // Config::schema; empty: it is not installed, so no times
                                 // are held, and no group is condemned
  uint32_t oid = 0;
  bool is_partitioned = false;

  std::vector<ColumnDefinition> partition_key;
  std::vector<ColumnDefinition> id;
  TsSource ts_source = TsSource::kCommitTime;
  std::optional<ColumnDefinition> ts;
  std::optional<StatedZone> zone;  // with kReading only
  std::optional<ColumnDefinition> ttl;
  EndSource end_source = EndSource::kTimestamp;
  std::optional<ColumnDefinition> expires;
  std::optional<StatedZone> expires_zone;  // with kReading and kDate only
  std::optional<ColumnDefinition> size;
  std::optional<ArchiveDefinition> archive;  // with on_expiry: archive only
  std::optional<ColumnDefinition> mark;      // with on_expiry: mark only

  // With group_by only. The group's first table has the others as members; a member has none.
  uint32_t group = 0;  // oid of the first table, also in each member; 0: each row is an item
  std::vector<TableDefinition> members;
  // Indexes in TablesOf() in the order in which rows are deleted: a table that refers to another by
  // a foreign key comes before that.
  std::vector<size_t> delete_order;
  // SQL query of the groups, one row each, which stands for the table; see GroupsAsRows(). Empty: a
  // real table.
  std::string rows;
  // With `rows`: queries of the keys in each table that has groups.
  std::vector<std::string> row_keys;

  // The columns of partition_key and id in the order of a unique index on only these columns, so
  // that reading pages in this order needs no sort. Empty: partition_key, then id.
  std::vector<ColumnDefinition> page_order;

  // Whether a partition has REPLICA IDENTITY FULL: all columns are then published, since a column
  // list is not allowed; else published_columns.
  bool publishes_all_columns = false;
  // All columns above and those of the replica identity of each partition, in the order of the
  // table. Without the identity PostgreSQL would refuse every UPDATE and DELETE.
  std::vector<std::string> published_columns;

  friend bool operator==(const TableDefinition&, const TableDefinition&) = default;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_TABLE_DEFINITION_H_
