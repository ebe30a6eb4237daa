#ifndef TTL_SERVICE_TRANSPORT_CALLS_ASYNC_STREAM_METHOD_H_
#define TTL_SERVICE_TRANSPORT_CALLS_ASYNC_STREAM_METHOD_H_

#include <google/protobuf/descriptor.h>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/exchange.h"
#include "service/transport/calls/method_gate.h"
#include "service/transport/calls/queued_method.h"

namespace ttl {

// One bidirectional method on one queue, by gRPC's asynchronous API, each of whose
// messages is answered by one. They are answered in the order in which they came, and
// are handled side by side: a bounded number is read ahead of the answers. A message that
// cannot be parsed ends what is read of the stream. For the queue's thread, but for
// construction and destruction while that does not run.
class AsyncStreamMethod final : public QueuedMethod {
 public:
  // Streams and messages are counted, and streams admitted, as the method of `method`'s
  // name. `service`, whose method it is, must outlive the queue.
  AsyncStreamMethod(CallQueue& queue, ByteService& service,
                    const google::protobuf::MethodDescriptor& method, NewExchange new_exchange);
  ~AsyncStreamMethod() override;

  // Answers what was read first.
  void EndStreams(const absl::Status& status) override;

 private:
  class Call;
  struct Message;

  void Accept();
  void Delete(Call* call);

  CallQueue& queue_;
  ByteService& service_;
  const google::protobuf::MethodDescriptor& method_;
  MethodCounter& counter_;
  const MethodGate gate_;
  const NewExchange new_exchange_;
  absl::flat_hash_set<Call*> open_;
  absl::Status end_status_;  // OK: streams go on
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_ASYNC_STREAM_METHOD_H_
