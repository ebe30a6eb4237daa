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

// The messages of pgoutput, the logical decoding that PostgreSQL brings along, in version 1 of
// their format ("Logical Replication Message Formats" in its manual). Views are of the bytes
// that were parsed.
namespace ttl::postgres {

// One column of a row.
struct ColumnValue {
  enum class Kind {
    kNull,
    kUnchanged,  // stored out of line, and as it was: the value is not in the message
    kText,
  };
  Kind kind = Kind::kNull;
  absl::string_view text;  // with kText
};
using Tuple = absl::InlinedVector<ColumnValue, 8>;

// The transaction that all messages up to its commit are of.
struct BeginMessage {
  uint64_t final_lsn = 0;  // of its commit: the order of transactions
  absl::Time commit_time;
  uint32_t xid = 0;
};

struct CommitMessage {
  uint64_t commit_lsn = 0;
  uint64_t end_lsn = 0;  // what follows begins here
  absl::Time commit_time;
};

// Where a transaction came from that was itself replicated.
struct OriginMessage {
  uint64_t commit_lsn = 0;
  absl::string_view name;
};

// What rows of a table look like from here on.
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
  // The row before: of the replica identity only, where other columns are null, or (FULL)
  // whole. Absent if the identity has not changed.
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

// What pg_logical_emit_message() wrote.
struct LogicalMessage {
  bool is_transactional = false;
  uint64_t lsn = 0;
  absl::string_view prefix;
  absl::string_view content;
};

using PgoutputMessage =
    std::variant<BeginMessage, CommitMessage, OriginMessage, RelationMessage, TypeMessage,
                 InsertMessage, UpdateMessage, DeleteMessage, TruncateMessage, LogicalMessage>;

// DATA_LOSS says what is wrong with a message that is not in the format.
absl::StatusOr<PgoutputMessage> ParsePgoutput(absl::string_view bytes);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_PGOUTPUT_H_
