#ifndef TTL_CLIENT_TTLCTL_COMMANDS_REFUSAL_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_REFUSAL_H_

#include "absl/status/status.h"

namespace ttl {

// Whether `status` proves that the server has not applied the call. After other failures it may
// have.
bool IsRefusal(const absl::Status& status);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_REFUSAL_H_
