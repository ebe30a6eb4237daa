#ifndef TTL_CLIENT_CPP_GRPC_STATUS_H_
#define TTL_CLIENT_CPP_GRPC_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace ttl {

// The absl::Status of a finished call to `address`: same code, and the server's
// message as it is. UNAVAILABLE and DEADLINE_EXCEEDED, which gRPC mostly makes
// up by itself, also name the address and, in the latter case, `deadline`, the
// time that was given to the call.
absl::Status ToAbslStatus(const grpc::Status& status, absl::string_view address,
                          absl::Duration deadline);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_GRPC_STATUS_H_
