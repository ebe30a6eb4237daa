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

// Keeps the slot of the configuration: makes it, and lets it go before the WAL that is kept
// back for it fills the disk. Lives through all sessions of a capture. For one thread.
class SlotKeeper {
 public:
  explicit SlotKeeper(const Config& config) : config_(config) {}

  // The position from which the slot has all commits. If there is no slot, or its WAL is gone,
  // or it can be of no more use, `start_over` is called and then a new one is made: all that
  // happened meanwhile is in no stream.
  absl::StatusOr<uint64_t> Open(PatientQuery& database,
                                const std::function<absl::Status()>& start_over);

  // RESOURCE_EXHAUSTED if it keeps too much: it has to be dropped. Also what it keeps is known
  // then.
  absl::Status Check(PatientQuery& database);
  // What it kept at the last look; absent: nothing, or nobody looked.
  std::optional<int64_t> retained_bytes() const { return retained_bytes_; }

  // Drops it as soon as nobody reads it, which takes some seconds at most after the stream has
  // ended.
  absl::Status Drop(PatientQuery& database);

  // The slot is older than the publication, so that it can never be read: the next Open()
  // makes a new one.
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
