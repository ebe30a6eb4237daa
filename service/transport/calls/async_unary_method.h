#ifndef TTL_SERVICE_TRANSPORT_CALLS_ASYNC_UNARY_METHOD_H_
#define TTL_SERVICE_TRANSPORT_CALLS_ASYNC_UNARY_METHOD_H_

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/exchange.h"
#include "service/transport/calls/method_gate.h"
#include "service/transport/calls/queued_method.h"

namespace ttl {

// A unary method on one queue. Call objects are reused, and their messages keep their memory. Runs
// on the queue's thread only; must be constructed and destroyed while that is not running.
class AsyncUnaryMethod final : public QueuedMethod {
 public:
  // Calls are counted and authorized under the name of `method`. `waiting_calls` is how many calls
  // gRPC can accept at once without waiting for this thread. `service`, to which the method
  // belongs, must outlive the queue.
  AsyncUnaryMethod(CallQueue& queue, ByteService& service,
                   const google::protobuf::MethodDescriptor& method, int waiting_calls,
                   NewExchange new_exchange);
  ~AsyncUnaryMethod() override;

 private:
  class Call;

  void Accept();
  void Recycle(std::unique_ptr<Call> call);

  CallQueue& queue_;
  ByteService& service_;
  const google::protobuf::MethodDescriptor& method_;
  MethodCounter& counter_;
  const MethodGate gate_;
  const NewExchange new_exchange_;
  std::vector<std::unique_ptr<Call>> spare_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_ASYNC_UNARY_METHOD_H_
