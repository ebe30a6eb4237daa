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

// A transaction that has written and has not ended. A new slot waits for all such transactions, in
// all databases, and the server retains WAL for an existing slot from the start of the oldest one.
struct SlotHolder {
  std::string holder;       // pid 4711, or prepared transaction "gid"
  std::string application;  // application_name; empty: none, or prepared
  std::string user;
  std::string database;
  // Start time; absent: the role may not see it.
  std::optional<absl::Time> since;
  std::string xid;
  std::string xmin;  // oldest xid that its snapshot does not see; empty: no snapshot

  friend bool operator==(const SlotHolder&, const SlotHolder&) = default;
};

// One human-readable line: the holder, its user and its start time.
std::string Describe(const SlotHolder& holder);

// Returns at most three holders, oldest first, without the session of `connection`.
absl::StatusOr<std::vector<SlotHolder>> ReadSlotHolders(Connection& connection);

// Sets `since` of each holder whose start time the role may not see to the time at which its xid
// was first seen. On return `first_seen` contains exactly these holders.
void UseFirstSeen(absl::Time now, std::map<std::string, absl::Time>& first_seen,
                  std::vector<SlotHolder>& holders);

// Returns the oldest holder if it is more than a minute old, so that the WAL retained for it grows;
// else null.
const SlotHolder* OldHolder(const std::vector<SlotHolder>& holders, absl::Time now);

// A replication slot, as pg_replication_slots shows it.
struct SlotState {
  std::optional<int64_t> reader_pid;  // absent: no session reads it
  std::string confirmed;              // an LSN; empty: the slot is still being created
  int64_t lag_bytes = 0;              // WAL written since `confirmed`
  int64_t retained_bytes = 0;
  std::string wal_status;  // reserved, extended, unreserved or lost
};

// Absent if no slot has that name.
absl::StatusOr<std::optional<SlotState>> ReadSlotState(Connection& connection,
                                                       const std::string& slot);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_SLOT_STATE_H_
