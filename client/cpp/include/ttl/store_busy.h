#ifndef TTL_STORE_BUSY_H_
#define TTL_STORE_BUSY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ttl {

// The error of a PrimaryStore that has no capacity for deletes now: all items of the batch are
// answered THROTTLED, and the sidecar sends none of this container for `retry_after`, at most an
// hour. Its code is RESOURCE_EXHAUSTED.
absl::Status StoreBusyError(absl::Duration retry_after);

// The retry_after of an error made by StoreBusyError(); absent for any other status.
std::optional<absl::Duration> BusyTimeOf(const absl::Status& status);

}  // namespace ttl

#endif  // TTL_STORE_BUSY_H_
