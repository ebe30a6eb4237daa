#ifndef TTL_TESTS_TESTING_RETRY_INFO_STATUS_H_
#define TTL_TESTS_TESTING_RETRY_INFO_STATUS_H_

#include <string>

#include "absl/time/time.h"
#include "grpcpp/support/status.h"
#include "ttl/errors/v1/error_details.pb.h"

namespace ttl {

// A status of a store that asks for a retry delay.
inline grpc::Status WithRetryInfo(grpc::StatusCode code, absl::Duration delay) {
  errors::v1::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(delay));
  errors::v1::ErrorStatus details;
  details.set_code(code);
  google::protobuf::Any* any = details.add_details();
  any->set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  any->set_value(info.SerializeAsString());
  return grpc::Status(code, "busy", details.SerializeAsString());
}

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_RETRY_INFO_STATUS_H_
