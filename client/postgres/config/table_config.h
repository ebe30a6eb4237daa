#ifndef TTL_CLIENT_POSTGRES_CONFIG_TABLE_CONFIG_H_
#define TTL_CLIENT_POSTGRES_CONFIG_TABLE_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

namespace ttl::postgres {

// How a number in a column counts time.
enum class EpochUnit { kSeconds, kMilliseconds };

// What a NULL in the column of a time means.
enum class NullMeans {
  kFault,  // nothing that is known: the row never expires, and counts as one that cannot be tracked
  kNever,  // an expected state: the row never expires
};

// What a NULL in the column of the end means.
enum class NullEnd {
  kNever,     // the row never expires, unless by a ttl of its own
  kInherits,  // the row says nothing: its own ttl decides, else its container's default_ttl
};

// Which instant of its day a date is.
enum class DayEdge { kUnsaid, kStart, kEnd };

// What is done to a row that has expired.
enum class OnExpiry {
  kDelete,
  kArchive,  // it is moved to another table
  kMark,     // a column of it is set, which takes it out of the table's `where`
};

// One table that is a container, as the configuration file says it. Names are as
// PostgreSQL keeps them: case counts, and there are no quotes.
struct TableConfig {
  std::string container;
  std::string schema = "public";
  std::string table;

  // Columns of the partition key, in this order; none: it is empty.
  std::vector<std::string> partition_key;
  // Columns of the id, at least one. Together with the partition key they identify a row.
  std::vector<std::string> id;

  // SQL: which rows expire, by the row's own columns, such as "state = 'completed'"; empty: all. It
  // runs with the rights of our role.
  std::string where;

  // Column that says when the row was last modified; absent: the time of the commit.
  std::optional<std::string> ts_column;
  // Without a ts_column: that what writes a row anew without changing it (a rewrite by ALTER TABLE,
  // a copy, a restore) makes an expired row visible again is known, and accepted.
  bool accept_commit_time = false;
  // What a number in it counts; of no meaning for a timestamp.
  EpochUnit ts_unit = EpochUnit::kSeconds;
  // The zone in which a timestamp without time zone says its times: a name of the time zone
  // database, or an offset such as +02:00; empty: none is stated.
  std::string ts_zone;
  NullMeans null_means = NullMeans::kFault;
  // Column of the row's own ttl in seconds; absent: no row has one.
  std::optional<std::string> ttl_column;
  // Column that says when the row ends; absent: none does. Without a ts_column no commit times are
  // needed: _ts is 1 of all rows.
  std::optional<std::string> expires_column;
  // What a number in it counts; of no meaning for other types.
  EpochUnit expires_unit = EpochUnit::kSeconds;
  // The zone of a timestamp without time zone, or of a date, as ts_zone; empty: none is stated.
  std::string expires_zone;
  // Which instant a date is; of no meaning for other types.
  DayEdge ends = DayEdge::kUnsaid;
  NullEnd expires_null = NullEnd::kNever;
  // Column of the row's size in bytes; absent: not known.
  std::optional<std::string> size_column;

  OnExpiry on_expiry = OnExpiry::kDelete;
  // With kArchive only: the table that rows are moved to, and its schema; empty: that of the table.
  std::string archive_table;
  std::string archive_schema;
  // Column of that table that gets the time of the move; empty: none does.
  std::string archived_at;
  // With kMark only: the column, and what it is set to, as a text of its type. "now" is the time of
  // the mark where that is a timestamp or a date.
  std::string mark_column;
  std::string mark_value;

  // Name of the view of the live rows; empty: none is made.
  std::string live_view;
  // Schema of that view; empty: that of the table. Roles that search it first find the view by the
  // name of the table.
  std::string view_schema;
  // What the table is renamed to, so that its view can have its name; empty: it keeps it.
  std::string rename_table;
  // Whether readers of the table itself see live rows only.
  bool row_level_security = false;
  // Whether an INSERT first removes an expired row of the same key, by a trigger.
  bool replace_expired = false;

  const std::string& live_view_schema() const { return view_schema.empty() ? schema : view_schema; }

  const std::string& schema_of_archive() const {
    return archive_schema.empty() ? schema : archive_schema;
  }

  friend bool operator==(const TableConfig&, const TableConfig&) = default;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CONFIG_TABLE_CONFIG_H_
