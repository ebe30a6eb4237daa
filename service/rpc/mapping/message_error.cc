#include "service/rpc/mapping/message_error.h"

#include "service/base/proto_time.h"
#include "service/transport/calls/status_mapping.h"

namespace ttl {

void FillMessageError(const absl::Status& status, v1::MessageError& error) {
  const grpc::Status unary = ToGrpcStatus(status);
  error.set_code(unary.error_code());
  error.set_message(unary.error_message());
  error.set_status_details(unary.error_details());
  if (const auto pushback = RetryPushback(status)) {
    *error.mutable_retry_after() = ToProto(*pushback);
  }
}

}  // namespace ttl
