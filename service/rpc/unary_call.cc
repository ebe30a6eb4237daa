#include "service/rpc/unary_call.h"

#include "absl/strings/str_cat.h"
#include "service/rpc/status_mapping.h"

namespace ttl {

grpc::ServerUnaryReactor* UnaryCall::Finish(const absl::Status& status) const {
  if (const auto pushback = RetryPushback(status); pushback.has_value()) {
    context_->AddTrailingMetadata(kRetryPushbackKey,
                                  absl::StrCat(absl::ToInt64Milliseconds(*pushback)));
  }
  // A finished call may be gone at once, and this object with it.
  grpc::ServerUnaryReactor* const reactor = reactor_;
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

}  // namespace ttl
