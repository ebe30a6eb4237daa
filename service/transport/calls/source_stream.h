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

// The result of a call of a source.
enum class SourceStep {
  kMessage,  // the next message is ready
  kAgain,    // not ready yet, call again
  kEnd,      // there are no more messages
};

// Makes the messages of one stream, one after the other. Each call does a bounded amount of work.
template <typename Response>
using MessageSource = absl::AnyInvocable<absl::StatusOr<SourceStep>(Response&)>;
using ByteSource = MessageSource<grpc::ByteBuffer>;

// A server-streaming method on one queue whose messages take work: a worker makes them, at most one
// ahead of the client. A stream that is ended because its client reads nothing for the stall limit
// (AsyncWriteStream) frees its source. Runs on the queue's thread only; must be constructed and
// destroyed while that is not running.
class SourceMethod final : public QueuedMethod {
 public:
  // Opens the source of a call. Runs on the worker, as do all calls of the source and its
  // destructor.
  using Open = std::function<absl::StatusOr<ByteSource>(grpc::ByteBuffer& request)>;

  // Streams are counted and authorized under the name of `method`. `service`, to which it belongs,
  // and `worker` must outlive the calls.
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
  absl::Status end_status_;  // OK until EndStreams()
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_SOURCE_STREAM_H_
