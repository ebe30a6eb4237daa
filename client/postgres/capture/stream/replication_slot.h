#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_SLOT_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_SLOT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/capture/stream/patient_query.h"

namespace ttl::postgres {

// A replication slot, as pg_replication_slots has it.
struct ReplicationSlot {
  std::string plugin;
  bool is_of_this_database = false;
  // The WAL it needs is gone; it can only be dropped.
  bool is_lost = false;
  // All before it is durable in the sidecar.
  uint64_t confirmed = 0;
  // The session that reads it; absent if none does.
  std::optional<int64_t> active_pid;
  // How much WAL the server keeps back for it.
  int64_t retained_bytes = 0;
};

// Absent if there is no such slot.
absl::StatusOr<std::optional<ReplicationSlot>> FindSlot(PatientQuery& database,
                                                        const std::string& name);

// FAILED_PRECONDITION if a slot of that name is none that we can use.
absl::Status CheckSlot(const ReplicationSlot& slot, const std::string& name);

// Makes one for pgoutput; returns the position from which on it has all commits. Waits for the
// transactions that are under way.
absl::StatusOr<uint64_t> CreateSlot(PatientQuery& database, const std::string& name);

// FAILED_PRECONDITION while a session reads it. OK if there is none.
absl::Status DropSlot(PatientQuery& database, const std::string& name);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_REPLICATION_SLOT_H_
