#ifndef TTL_CLIENT_TTLCTL_COMMANDS_REFUSAL_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_REFUSAL_H_

#include "absl/status/status.h"

namespace ttl {

// Whether the server has certainly not applied a call that ended so. After any other
// failure it may have.
bool IsRefusal(const absl::Status& status);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_REFUSAL_H_
