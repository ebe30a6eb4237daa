#ifndef TTL_SERVICE_EXPIRY_PREVIOUS_RUN_H_
#define TTL_SERVICE_EXPIRY_PREVIOUS_RUN_H_

#include <vector>

#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/storage/storage.h"

namespace ttl {

// Deletes that an earlier run of this process may have left on their way to the
// store when it was killed: the store may carry them out until their not_after.
// Until then every container there is has a pass out, so that a change of its
// policy or a pause waits as it would for deletes of this run. Not thread-safe.
class PreviousRun {
 public:
  // Made before anything can be changed. `clock` and `storage` must outlive it;
  // `delete_deadline` is that of the earlier run.
  PreviousRun(Storage& storage, const Clock& clock, absl::Duration delete_deadline);

  // Gives the passes back if their time has come. Returns how long until then;
  // infinite once it is done.
  absl::Duration Settle();

 private:
  const Clock& clock_;
  absl::Duration settled_;  // steady
  std::vector<DeleteGate::Pass> passes_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PREVIOUS_RUN_H_
