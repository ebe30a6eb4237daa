#ifndef TTL_CLIENT_CPP_DETAIL_PAYLOADS_H_
#define TTL_CLIENT_CPP_DETAIL_PAYLOADS_H_

#include <string>

#include "absl/status/status.h"

namespace ttl {

// Adds the details of an error, the bytes of grpc-status-details-bin, to `status`, for the
// functions of ttl/error_details.h. Of two details of a type the last one counts. Ignores bytes
// that are no google.rpc.Status.
void AddDetails(const std::string& status_details, absl::Status& status);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_DETAIL_PAYLOADS_H_
