#ifndef TTL_TESTS_POSTGRES_GROUPS_FOR_TEST_H_
#define TTL_TESTS_POSTGRES_GROUPS_FOR_TEST_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "client/postgres/config/table_config.h"

namespace ttl::postgres {

// The checkpoint tables of LangGraph's PostgreSQL saver. The threads are the groups.
inline constexpr char kCheckpointTables[] =
    "CREATE TABLE checkpoints (thread_id text NOT NULL, checkpoint_ns text NOT NULL DEFAULT '', "
    "checkpoint_id text NOT NULL, parent_checkpoint_id text, type text, checkpoint jsonb NOT NULL, "
    "metadata jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));"
    "CREATE TABLE checkpoint_blobs (thread_id text NOT NULL, checkpoint_ns text NOT NULL DEFAULT "
    "'', channel text NOT NULL, version text NOT NULL, type text NOT NULL, blob bytea, PRIMARY KEY "
    "(thread_id, checkpoint_ns, channel, version));"
    "CREATE TABLE checkpoint_writes (thread_id text NOT NULL, checkpoint_ns text NOT NULL DEFAULT "
    "'', checkpoint_id text NOT NULL, task_id text NOT NULL, idx integer NOT NULL, channel text "
    "NOT "
    "NULL, type text, blob bytea NOT NULL, task_path text NOT NULL DEFAULT '', PRIMARY KEY "
    "(thread_id, checkpoint_ns, checkpoint_id, task_id, idx))";

// A column of times in each, as an operator adds it.
inline constexpr char kAddTimes[] =
    "ALTER TABLE checkpoints ADD COLUMN ttl_written_at timestamptz NOT NULL DEFAULT now();"
    "ALTER TABLE checkpoint_blobs ADD COLUMN ttl_written_at timestamptz NOT NULL DEFAULT now();"
    "ALTER TABLE checkpoint_writes ADD COLUMN ttl_written_at timestamptz NOT NULL DEFAULT now();"
    "CREATE INDEX ON checkpoints (thread_id, ttl_written_at);"
    "CREATE INDEX ON checkpoint_blobs (thread_id, ttl_written_at);"
    "CREATE INDEX ON checkpoint_writes (thread_id, ttl_written_at)";

inline const std::string kCreateCheckpoints = absl::StrCat(kCheckpointTables, ";", kAddTimes);

inline TableConfig MemberOf(const TableConfig& group, const char* table) {
  TableConfig member;
  member.container = group.container;
  member.table = table;
  member.id = group.id;
  member.is_group = true;
  return member;
}

// Container "threads" over the three tables.
inline TableConfig Threads() {
  TableConfig group;
  group.container = "threads";
  group.table = "checkpoints";
  group.id = {"thread_id"};
  group.is_group = true;
  group.ts_column = "ttl_written_at";
  for (const char* table : {"checkpoint_blobs", "checkpoint_writes"}) {
    group.members.push_back(MemberOf(group, table));
    group.members.back().ts_column = "ttl_written_at";
  }
  return group;
}

// Orders that say when they end, and their lines, which follow them by a foreign key.
inline constexpr char kCreateOrders[] =
    "CREATE TABLE orders (id bigint NOT NULL, part int NOT NULL, expires_at timestamptz, "
    "PRIMARY KEY (id, part));"
    "CREATE TABLE lines (order_id bigint NOT NULL, part int NOT NULL, line int NOT NULL, "
    "PRIMARY KEY (order_id, part, line), FOREIGN KEY (order_id, part) REFERENCES orders);"
    "CREATE INDEX ON orders (id, expires_at)";

// Container "orders": the first table is referred to by the second.
inline TableConfig Orders() {
  TableConfig group;
  group.container = "orders";
  group.table = "orders";
  group.id = {"id"};
  group.is_group = true;
  group.expires_column = "expires_at";
  TableConfig lines = MemberOf(group, "lines");
  lines.id = {"order_id"};
  group.members.push_back(lines);
  return group;
}

}  // namespace ttl::postgres

#endif  // TTL_TESTS_POSTGRES_GROUPS_FOR_TEST_H_
