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

// Deletes that an earlier run of this process may have left on their way to the
// store when it was killed: the store may carry them out until their not_after.
// Until then every container there is has a pass out, so that a change of its
// policy or a pause waits as it would for deletes of this run.
//
// How long that is says what is kept in the storage, not this run's options: the longest
// delete deadline of all runs whose deletes may still be on their way. While this run's is
// not kept, the delete gate is closed, so that nothing is sent that the next run would not
// wait for. Not thread-safe.
class PreviousRun {
 public:
  // Made before anything can be changed and before the sweeper runs. `clock` and `storage`
  // must outlive it; `delete_deadline`, above 0, is this run's. DATA_LOSS if what was kept
  // cannot be read.
  static absl::StatusOr<PreviousRun> Begin(Storage& storage, const Clock& clock,
                                           absl::Duration delete_deadline);

  // Keeps this run's deadline if it is not kept yet, and gives the passes back if their
  // time has come. Returns how long until it is to be called again; infinite once it is
  // done.
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
