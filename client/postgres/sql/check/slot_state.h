#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_SLOT_STATE_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_SLOT_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// A transaction that has written and has not ended. A new slot waits for all of them, of other
// databases too, and the server retains WAL for an existing slot from the beginning of the oldest.
struct SlotHolder {
  std::string holder;       // pid 4711, or prepared transaction "gid"
  std::string application;  // application_name; empty: none, or prepared
  std::string user;
  std::string database;
  // Absent: the role may not see it.
  std::optional<absl::Time> since;
  std::string xid;
  std::string xmin;  // the oldest transaction that its snapshot does not see; empty: has none

  friend bool operator==(const SlotHolder&, const SlotHolder&) = default;
};

// In one line, for people: who, of which user, since when.
std::string Describe(const SlotHolder& holder);

// The oldest first, at most three. Nothing about the session of `connection`.
absl::StatusOr<std::vector<SlotHolder>> ReadSlotHolders(Connection& connection);

// Gives those whose beginning the role may not see the time at which one of their xid was first
// seen, which `first_seen` has after it for these and no others.
void UseFirstSeen(absl::Time now, std::map<std::string, absl::Time>& first_seen,
                  std::vector<SlotHolder>& holders);

// The oldest, if it is more than a minute old: the server retains WAL for it that grows. Null:
// there is none.
const SlotHolder* OldHolder(const std::vector<SlotHolder>& holders, absl::Time now);

// A replication slot, as pg_replication_slots shows it.
struct SlotState {
  std::optional<int64_t> reader_pid;  // absent: no session reads it
  std::string confirmed;              // an LSN; empty: the slot is still being created
  int64_t lag_bytes = 0;              // WAL written since `confirmed`
  int64_t retained_bytes = 0;
  std::string wal_status;  // reserved, extended, unreserved or lost
};

// Absent: there is no slot of that name.
absl::StatusOr<std::optional<SlotState>> ReadSlotState(Connection& connection,
                                                       const std::string& slot);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_SLOT_STATE_H_
