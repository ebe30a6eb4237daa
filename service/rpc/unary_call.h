#ifndef TTL_SERVICE_RPC_UNARY_CALL_H_
#define TTL_SERVICE_RPC_UNARY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "absl/status/status.h"

namespace ttl {

// One unary call of gRPC's callback API, on its way to its only Finish(), which
// any thread may call. Copies stand for the same call. Request and response
// live until it is finished, and so does the service, since a server waits for
// its calls.
class UnaryCall {
 public:
  explicit UnaryCall(grpc::CallbackServerContext* context)
      : context_(context), reactor_(context->DefaultReactor()) {}

  // What the handler returns to gRPC.
  grpc::ServerUnaryReactor* reactor() const { return reactor_; }

  // Ends the call with `status` and, if that is OK, the response. Returns
  // reactor(), for handlers that finish at once.
  grpc::ServerUnaryReactor* Finish(const absl::Status& status) const;

 private:
  grpc::CallbackServerContext* context_;
  grpc::ServerUnaryReactor* reactor_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_UNARY_CALL_H_
