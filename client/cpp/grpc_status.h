#ifndef TTL_CLIENT_CPP_GRPC_STATUS_H_
#define TTL_CLIENT_CPP_GRPC_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace ttl {

// Converts the status of a call to `address`. Code and message stay the same, except that
// UNAVAILABLE and DEADLINE_EXCEEDED, which mostly come from gRPC itself, also name the address and,
// in the latter case, the `deadline` of the call. The details are kept for ttl/error_details.h.
absl::Status ToAbslStatus(const grpc::Status& status, absl::string_view address,
                          absl::Duration deadline);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_GRPC_STATUS_H_
