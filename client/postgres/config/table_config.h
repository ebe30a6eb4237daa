#ifndef TTL_CLIENT_POSTGRES_CONFIG_TABLE_CONFIG_H_
#define TTL_CLIENT_POSTGRES_CONFIG_TABLE_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

namespace ttl::postgres {

// Unit of an integer time column, since 1970.
enum class EpochUnit { kSeconds, kMilliseconds };

// Meaning of a NULL in the ts_column. The row never expires in either case.
enum class NullMeans {
  kFault,  // a fault: the row counts as one that cannot be tracked
  kNever,  // an expected state
};

// Meaning of a NULL in the expires_column.
enum class NullEnd {
  kNever,     // the row never expires, unless it has its own ttl
  kInherits,  // the row's own ttl applies, else its container's default_ttl
};

// The instant of the day at which a date expires its row.
enum class DayEdge { kUnsaid, kStart, kEnd };

// Action on an expired row.
enum class OnExpiry {
  kDelete,
  kArchive,  // move the row to the archive_table
  kMark,     // set a column, after which the row no longer matches the table's `where`
};

// Configuration of one table, which is one container. Names are as PostgreSQL stores them: unquoted
// and case-sensitive.
struct TableConfig {
  std::string container;
  std::string schema = "public";
  std::string table;

  // Columns of the partition key, in this order; empty: the partition key is empty.
  std::vector<std::string> partition_key;
  // Columns of the id, at least one. The partition key and the id identify a row. With is_group
  // they are the columns of group_by, and identify a group.
  std::vector<std::string> id;
  // group_by: the rows with equal `id` are one item, which is live until the latest of their ends.
  bool is_group = false;
  // With is_group: the other tables whose rows belong to the groups. Of each, only the names, `id`,
  // which has the columns that correspond to those of this table, the columns of times, and the
  // fields of views and policies are set. A member without a column of times has no influence on
  // the end of a group.
  std::vector<TableConfig> members;

  // SQL condition on the row's own columns, such as "state = 'completed'": only matching rows
  // expire. Empty: all rows do. It runs with the rights of the ttl-postgres role.
  std::string where;

  // Column with the time of the last modification; absent: the commit time is used.
  std::optional<std::string> ts_column;
  // Accepts that, without a ts_column, an operation that rewrites an unchanged row (ALTER TABLE, a
  // copy, a restore) makes an expired row visible again.
  bool accept_commit_time = false;
  // Unit of an integer ts_column; ignored for a timestamp.
  EpochUnit ts_unit = EpochUnit::kSeconds;
  // Time zone of a ts_column that is a timestamp without time zone: a name in the time zone
  // database, or an offset such as +02:00. Empty: not configured.
  std::string ts_zone;
  NullMeans null_means = NullMeans::kFault;
  // Column with the row's own ttl in seconds; absent: no row has its own ttl.
  std::optional<std::string> ttl_column;
  // Column with the expire time; absent: rows have none. A table with this column and no ts_column
  // needs no commit times: `_ts` is 1 for every row.
  std::optional<std::string> expires_column;
  // Unit of an integer expires_column; ignored for other types.
  EpochUnit expires_unit = EpochUnit::kSeconds;
  // Time zone of an expires_column that is a date or a timestamp without time zone, as in ts_zone.
  // Empty: not configured.
  std::string expires_zone;
  // Instant of the day for an expires_column of type date; ignored for other types.
  DayEdge ends = DayEdge::kUnsaid;
  NullEnd expires_null = NullEnd::kNever;
  // Column with the row's size in bytes; absent: the size is unknown.
  std::optional<std::string> size_column;

  OnExpiry on_expiry = OnExpiry::kDelete;
  // With kArchive only: the table to move rows to, and its schema; an empty schema is that of the
  // table.
  std::string archive_table;
  std::string archive_schema;
  // Column of the archive_table that receives the time of the move; empty: none.
  std::string archived_at;
  // With kMark only: the column to set, and its new value as text of the column's type. In a
  // timestamp or date column "now" is the time of the mark.
  std::string mark_column;
  std::string mark_value;

  // Name of the view of the live rows; empty: no view is created.
  std::string live_view;
  // Schema of that view; empty: that of the table. A role whose search_path has this schema first
  // finds the view by the name of the table.
  std::string view_schema;
  // New name of the table, which frees its name for the view; empty: the table is not renamed.
  std::string rename_table;
  // Whether row-level security hides expired rows from readers of the table itself.
  bool row_level_security = false;
  // Whether a trigger removes an expired row of the same key before an INSERT.
  bool replace_expired = false;

  bool has_times() const { return ts_column.has_value() || expires_column.has_value(); }

  const std::string& live_view_schema() const { return view_schema.empty() ? schema : view_schema; }

  const std::string& schema_of_archive() const {
    return archive_schema.empty() ? schema : archive_schema;
  }

  friend bool operator==(const TableConfig&, const TableConfig&) = default;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CONFIG_TABLE_CONFIG_H_
