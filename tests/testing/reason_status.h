#ifndef TTL_TESTS_TESTING_REASON_STATUS_H_
#define TTL_TESTS_TESTING_REASON_STATUS_H_

#include <string>

#include "grpcpp/support/status.h"
#include "ttl/errors/v1/error_details.pb.h"

namespace ttl {

// The status "refused" with a reason of protos/errors.md.
inline grpc::Status RefusalFor(const std::string& reason,
                               grpc::StatusCode code = grpc::StatusCode::FAILED_PRECONDITION) {
  errors::v1::ErrorInfo info;
  info.set_reason(reason);
  errors::v1::ErrorStatus details;
  details.set_code(code);
  google::protobuf::Any* any = details.add_details();
  any->set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any->set_value(info.SerializeAsString());
  return grpc::Status(code, "refused", details.SerializeAsString());
}

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_REASON_STATUS_H_
