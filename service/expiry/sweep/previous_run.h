#ifndef TTL_SERVICE_EXPIRY_SWEEP_PREVIOUS_RUN_H_
#define TTL_SERVICE_EXPIRY_SWEEP_PREVIOUS_RUN_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/storage.h"

namespace ttl {

// Guards against deletes that an earlier run of this process had in flight when it was killed: the
// store may carry them out until their not_after. Until then a pass of the delete gate is held for
// every container, so that a policy change or a pause waits for them as for deletes of this run.
//
// The time to wait is stored durably: it is the longest delete deadline of all runs whose deletes
// may still be in flight, not the deadline of this run. The gate stays closed until this run's
// deadline is stored, so that nothing is sent that the next run would not wait for.
//
// Not thread-safe.
class PreviousRun {
 public:
  // Must be called before any change is accepted and before the sweeper runs. `storage` and `clock`
  // must outlive the result; `delete_deadline`, above 0, is this run's. DATA_LOSS if the stored
  // deadline cannot be read.
  static absl::StatusOr<PreviousRun> Begin(Storage& storage, const Clock& clock,
                                           absl::Duration delete_deadline);

  // Stores this run's deadline if that is still to be done, and gives the passes back once the
  // deletes of earlier runs can no longer be carried out. Returns how long to wait before calling
  // it again; infinite once all is done.
  absl::Duration Settle();

 private:
  PreviousRun(Storage& storage, const Clock& clock, absl::Duration delete_deadline,
              std::optional<absl::Duration> kept);

  bool Keep(absl::Duration deadline);

  Storage* storage_;
  const Clock* clock_;
  absl::Duration delete_deadline_;
  std::optional<absl::Duration> kept_;
  bool is_gate_closed_ = false;
  absl::Duration settled_;  // steady
  std::vector<DeleteGate::Pass> passes_;
  TroubleLog log_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_PREVIOUS_RUN_H_
