#ifndef TTL_SERVICE_TRANSPORT_CALLS_SOURCE_STREAM_H_
#define TTL_SERVICE_TRANSPORT_CALLS_SOURCE_STREAM_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <functional>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/call_worker.h"
#include "service/transport/calls/method_gate.h"
#include "service/transport/calls/queued_method.h"

namespace ttl {

// What a call of a source came to.
enum class SourceStep {
  kMessage,  // a message was made
  kAgain,    // none yet: call again
  kEnd,      // there are no more
};

// Makes the messages of one stream, one after the other, each call by a bounded step.
template <typename Response>
using MessageSource = absl::AnyInvocable<absl::StatusOr<SourceStep>(Response&)>;
using ByteSource = MessageSource<grpc::ByteBuffer>;

// A method with a stream of responses, each of which takes work: it is done by a worker,
// one message ahead of the client at most. A client that takes no message for the stall limit,
// or up to twice as long, loses its stream, since others may wait for what it holds. On one
// queue; for its thread, but for construction and destruction while that does not run.
class SourceMethod final : public QueuedMethod {
 public:
  // Begins the work of a call; on the worker, as all calls of the source and its end.
  using Open = std::function<absl::StatusOr<ByteSource>(grpc::ByteBuffer& request)>;

  // Streams are counted and admitted as the method of `method`'s name. `service`, whose
  // method it is, and `worker` must outlive the calls.
  SourceMethod(CallQueue& queue, ByteService& service,
               const google::protobuf::MethodDescriptor& method, CallWorker& worker,
               absl::Duration stall_limit, Open open);
  ~SourceMethod() override;

  void EndStreams(const absl::Status& status) override;

 private:
  class Stream;

  void Accept();
  absl::Status Refusal(const grpc::ServerContext& context) const;

  CallQueue& queue_;
  ByteService& service_;
  const google::protobuf::MethodDescriptor& method_;
  CallWorker& worker_;
  const absl::Duration stall_limit_;
  MethodCounter& counter_;
  const MethodGate gate_;
  const Open open_source_;
  absl::flat_hash_set<Stream*> open_;
  absl::Status end_status_;  // OK: streams go on
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_SOURCE_STREAM_H_
