#ifndef TTL_CLIENT_POSTGRES_SQL_TABLE_DEFINITION_H_
#define TTL_CLIENT_POSTGRES_SQL_TABLE_DEFINITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/stated_zone.h"

namespace ttl::postgres {

// A column that is used.
struct ColumnDefinition {
  std::string name;
  // As a cast takes it: "character varying(20)", "ttl_demo.\"Kind\"". Of a domain it is the type
  // below: a row may be older than the domain's conditions, which a cast would hold against it.
  std::string type;
  bool nullable = false;

  friend bool operator==(const ColumnDefinition&, const ColumnDefinition&) = default;
};

// What the column of _ts holds.
enum class TsSource {
  kNone,         // there is no column, and none is needed: rows say when they end
  kCommitTime,   // there is no column
  kTimestamp,    // timestamp with time zone
  kReading,      // timestamp without time zone, in the stated one
  kEpochNumber,  // an integer, in the configured unit
};

// What the column of the end holds.
enum class EndSource {
  kTimestamp,    // timestamp with time zone
  kReading,      // timestamp without time zone, in the stated one
  kDate,         // date, in the stated zone
  kEpochNumber,  // an integer, in the configured unit
};

// How rows of a table with on_expiry: archive are moved.
struct ArchiveDefinition {
  std::vector<std::string> columns;  // all of the table, in its order
  std::string signature;             // ArchiveSignature() at the same instant
  std::vector<std::string> unfit;    // why no row may be moved: WhyArchiveIsUnfit()

  friend bool operator==(const ArchiveDefinition&, const ArchiveDefinition&) = default;
};

// One table that is a container: its configuration, held against the catalogue.
struct TableDefinition {
  TableConfig config;            // its table is what the table is called now
  std::string configured_table;  // what the file calls it; another name while it is renamed
  std::string own_schema;        // Config::schema; empty: nothing is held there
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

  // The columns of partition_key and id in the order of a unique index on just them, so that
  // pages in this order need no sort. Empty: as above.
  std::vector<ColumnDefinition> page_order;

  // REPLICA IDENTITY FULL: all columns are published, since a list is not allowed then;
  // else those of published_columns.
  bool publishes_all_columns = false;
  // All columns above and those of the replica identity of each partition, in the order of the
  // table: without the latter PostgreSQL would refuse every UPDATE and DELETE.
  std::vector<std::string> published_columns;

  friend bool operator==(const TableDefinition&, const TableDefinition&) = default;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_TABLE_DEFINITION_H_
