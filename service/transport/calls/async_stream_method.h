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

// A bidirectional streaming method on one queue, in which each message gets one response. Messages
// are handled concurrently, a bounded number ahead of the responses, and responses are sent in the
// order of the messages. After a message that cannot be parsed the stream is not read any further.
// Runs on the queue's thread only; must be constructed and destroyed while that is not running.
class AsyncStreamMethod final : public QueuedMethod {
 public:
  // Streams and messages are counted, and streams authorized, under the name of `method`.
  // `service`, to which it belongs, must outlive the queue.
  AsyncStreamMethod(CallQueue& queue, ByteService& service,
                    const google::protobuf::MethodDescriptor& method, NewExchange new_exchange);
  ~AsyncStreamMethod() override;

  // Messages that were read are answered first.
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
  absl::Status end_status_;  // OK until EndStreams()
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_ASYNC_STREAM_METHOD_H_
