#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_GROUP_PIECES_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_GROUP_PIECES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"
#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/deletes/batch_fit.h"
#include "client/postgres/store/deletes/group_sql.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Limits of the transaction of a piece.
struct PieceBounds {
  absl::Duration lock_timeout;
  absl::Duration statement_timeout;
  WallClock clock;  // ours
};

struct PieceOutcome {
  int64_t groups = 0;     // condemned groups of the container, before the piece
  int64_t rows = 0;       // that were deleted
  bool is_gone = false;   // the last row of its group was deleted before
  bool is_over = false;   // the transaction took too long; later pieces are smaller
  bool is_stuck = false;  // nothing can be deleted now: all of the groups have a fault, or wait
};

// GroupPieces deletes the rows of the condemned groups of one container, see group_condemned.h, in
// pieces of a bounded number of rows of one table: each in its own transaction, in the order of the
// foreign keys. The table of condemned groups has all state, so whoever is killed, the next call
// goes on. A piece takes no lock of a group: it deletes only rows that no writer of the new group
// has, and that are not locked. Immutable and thread-safe.
class GroupPieces {
 public:
  // `table` is the first table of the groups, and `sql` has their statements; both must outlive
  // this. REQUIRES: the table has an own_schema.
  GroupPieces(const TableDefinition& table, const GroupSql& sql);

  // Deletes one piece of any condemned group, preferably of one that has no fault. Removes the
  // entry of a group that is gone. UNAVAILABLE: the database as a whole fails.
  absl::StatusOr<PieceOutcome> DeleteOne(Connection& connection, const PieceBounds& bounds,
                                         BatchFit& fit) const;

  // The condemned groups of the container.
  absl::StatusOr<int64_t> Count(Connection& connection) const;

 private:
  // The key of a condemned group, and before_xid: the first parameters of all statements.
  using Entry = std::vector<Connection::Parameter>;
  // By table: a condition that no row of another table of the group refers to row t.
  using References = std::map<uint32_t, std::string>;
  struct Rows {
    uint32_t oid = 0;
    std::string from;    // ONLY "schema"."table" AS t
    std::string select;  // of the ctids of condemned rows
  };

  // Returns why no piece of the group can be deleted; empty: one was, or there was nothing to do.
  // Leaves the transaction open unless it returns an empty text.
  absl::StatusOr<std::string> Attempt(Connection& connection, const PieceBounds& bounds,
                                      const Entry& entry, size_t limit,
                                      PieceOutcome& outcome) const;
  absl::StatusOr<std::string> DeleteRows(Connection& connection, const Entry& entry, size_t limit,
                                         const References& references, PieceOutcome& outcome) const;
  // Deletes those of the locked rows that are still `unreferenced`.
  absl::StatusOr<std::string> DeleteLocked(Connection& connection, const Entry& entry,
                                           const Rows& rows, const std::string& unreferenced,
                                           const std::string& places, PieceOutcome& outcome) const;
  // Removes the entry if the group has no condemned row, or returns why it has.
  absl::StatusOr<std::string> Conclude(Connection& connection, const Entry& entry,
                                       const References& references, PieceOutcome& outcome) const;
  absl::StatusOr<bool> HasRow(Connection& connection, const Entry& entry,
                              const References* references) const;
  // Records why the group cannot be deleted.
  absl::Status Blame(Connection& connection, const Entry& entry, const std::string& fault) const;

  const TableDefinition& table_;
  const GroupSql& sql_;
  std::vector<Rows> rows_;  // in the order of the deletes
  std::string count_;
  std::string next_entry_;
  std::string is_entry_;  // a condition with the parameters of an entry
  std::string condemned_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_GROUP_PIECES_H_
