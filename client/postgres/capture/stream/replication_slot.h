#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_SLOT_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_SLOT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/capture/stream/patient_query.h"

namespace ttl::postgres {

// A replication slot, from pg_replication_slots.
struct ReplicationSlot {
  std::string plugin;
  bool is_of_this_database = false;
  // The WAL that it needs is gone; it can only be dropped.
  bool is_lost = false;
  // Everything before this LSN is durable in the sidecar.
  uint64_t confirmed = 0;
  // The pid of the session that reads it; absent if none does.
  std::optional<int64_t> active_pid;
  // WAL bytes that the server retains for it.
  int64_t retained_bytes = 0;
};

// Absent if there is no such slot.
absl::StatusOr<std::optional<ReplicationSlot>> FindSlot(PatientQuery& database,
                                                        const std::string& name);

// FAILED_PRECONDITION if the slot of that name cannot be used by us.
absl::Status CheckSlot(const ReplicationSlot& slot, const std::string& name);

// Creates a slot for pgoutput; returns the LSN from which it has all commits. Waits for running
// transactions.
absl::StatusOr<uint64_t> CreateSlot(PatientQuery& database, const std::string& name);

// FAILED_PRECONDITION while a session reads it. OK if there is no such slot.
absl::Status DropSlot(PatientQuery& database, const std::string& name);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_SLOT_H_
