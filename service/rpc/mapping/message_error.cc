#include "service/rpc/mapping/message_error.h"

#include "service/base/proto_time.h"
#include "service/transport/calls/status_mapping.h"

namespace ttl {

void FillMessageError(const absl::Status& status, v1::MessageError& error) {
  error.set_code(status.raw_code());
  error.set_message(ToGrpcStatus(status).error_message());
  *error.mutable_details() = DetailsOf(status);
  if (const auto pushback = RetryPushback(status)) {
    *error.mutable_retry_after() = ToProto(*pushback);
  }
}

}  // namespace ttl
