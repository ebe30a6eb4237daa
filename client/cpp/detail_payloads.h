#ifndef TTL_CLIENT_CPP_DETAIL_PAYLOADS_H_
#define TTL_CLIENT_CPP_DETAIL_PAYLOADS_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/repeated_field.h"

namespace ttl {

// Adds details of an error to `status`, for the functions of ttl/error_details.h. Of two details of
// a type the last one counts.
void AddDetails(const google::protobuf::RepeatedPtrField<google::protobuf::Any>& details,
                absl::Status& status);

// As above, from the bytes of grpc-status-details-bin. Ignores bytes that are no google.rpc.Status.
void AddDetails(const std::string& status_details, absl::Status& status);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_DETAIL_PAYLOADS_H_
