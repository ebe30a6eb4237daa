#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SLOT_KEEPER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SLOT_KEEPER_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/replication_slot.h"
#include "client/postgres/config/config.h"

namespace ttl::postgres {

// SlotKeeper creates the configured slot, and drops it before the WAL that it retains fills the
// disk. It outlives the sessions of a capture. Not thread-safe.
class SlotKeeper {
 public:
  explicit SlotKeeper(const Config& config) : config_(config) {}

  // Returns the LSN from which the slot has all commits. If there is no slot, its WAL is gone, or
  // it cannot be used any more, calls `start_over` and then creates a new one: the changes in
  // between are lost.
  absl::StatusOr<uint64_t> Open(PatientQuery& database,
                                const std::function<absl::Status()>& start_over);

  // RESOURCE_EXHAUSTED if the slot retains too much WAL and must be dropped. Also updates
  // retained_bytes().
  absl::Status Check(PatientQuery& database);
  // WAL bytes that the slot retained at the last Check(); absent: there is no slot, or it was not
  // checked.
  std::optional<int64_t> retained_bytes() const { return retained_bytes_; }

  // Drops the slot once it is not in use, at most some seconds after the stream has ended.
  absl::Status Drop(PatientQuery& database);

  // Records that the slot is older than the publication and can never be read: the next Open()
  // replaces it.
  void SetUseless() { is_useless_ = true; }

 private:
  absl::StatusOr<uint64_t> Create(PatientQuery& database,
                                  const std::function<absl::Status()>& start_over);

  const Config& config_;
  bool is_useless_ = false;
  std::optional<int64_t> retained_bytes_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_SLOT_KEEPER_H_
