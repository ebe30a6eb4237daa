#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_PGOUTPUT_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_PGOUTPUT_H_

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// The messages of pgoutput, PostgreSQL's built-in logical decoding plugin, in format version 1
// ("Logical Replication Message Formats" in its manual). Views refer to the parsed bytes.
namespace ttl::postgres {

// One column of a row.
struct ColumnValue {
  enum class Kind {
    kNull,
    kUnchanged,  // stored out of line and unchanged: the message lacks the value
    kText,
  };
  Kind kind = Kind::kNull;
  absl::string_view text;  // if kText
};
using Tuple = absl::InlinedVector<ColumnValue, 8>;

// Starts a transaction, which contains all messages up to its commit.
struct BeginMessage {
  uint64_t final_lsn = 0;  // of its commit; orders transactions
  absl::Time commit_time;
  uint32_t xid = 0;
};

struct CommitMessage {
  uint64_t commit_lsn = 0;
  uint64_t end_lsn = 0;  // the next record begins here
  absl::Time commit_time;
};

// The origin of a transaction that was itself replicated.
struct OriginMessage {
  uint64_t commit_lsn = 0;
  absl::string_view name;
};

// The format of a table's rows from here on.
struct RelationMessage {
  struct Column {
    bool is_identity = false;  // part of the replica identity
    absl::string_view name;
    uint32_t type_oid = 0;
    int32_t type_modifier = -1;
  };
  uint32_t oid = 0;
  absl::string_view schema;
  absl::string_view table;
  char replica_identity = 'd';  // as pg_class.relreplident
  std::vector<Column> columns;
};

// The name of a type that is not built in.
struct TypeMessage {
  uint32_t oid = 0;
  absl::string_view schema;
  absl::string_view name;
};

struct InsertMessage {
  uint32_t relation = 0;
  Tuple row;
};

struct UpdateMessage {
  uint32_t relation = 0;
  // The previous row: only the replica identity, with the other columns null, or (FULL) the whole
  // row. Absent if the identity has not changed.
  std::optional<Tuple> old_row;
  Tuple row;
};

struct DeleteMessage {
  uint32_t relation = 0;
  Tuple old_row;  // as in UpdateMessage
};

struct TruncateMessage {
  std::vector<uint32_t> relations;
};

// A message of pg_logical_emit_message().
struct LogicalMessage {
  bool is_transactional = false;
  uint64_t lsn = 0;
  absl::string_view prefix;
  absl::string_view content;
};

using PgoutputMessage =
    std::variant<BeginMessage, CommitMessage, OriginMessage, RelationMessage, TypeMessage,
                 InsertMessage, UpdateMessage, DeleteMessage, TruncateMessage, LogicalMessage>;

// DATA_LOSS describes the fault of a message that violates the format.
absl::StatusOr<PgoutputMessage> ParsePgoutput(absl::string_view bytes);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_PGOUTPUT_H_
