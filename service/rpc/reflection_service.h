#ifndef TTL_SERVICE_RPC_REFLECTION_SERVICE_H_
#define TTL_SERVICE_RPC_REFLECTION_SERVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "service/rpc/call_queue.h"
#include "service/rpc/queued_method.h"

namespace ttl {

// Tells clients such as grpcurl which services there are and what their messages look
// like, under both names of gRPC's protocol. In place of the one that comes with gRPC,
// which brings threads that poll for all calls of the process, and cannot be told who
// may ask. Thread-safe once it accepts calls.
class ReflectionService final {
 public:
  // What a server registers of it; each server has its own.
  struct Endpoint {
    grpc::reflection::v1::ServerReflection::AsyncService v1;
    grpc::reflection::v1alpha::ServerReflection::AsyncService v1alpha;
  };

  // Full names of all services that are served.
  explicit ReflectionService(std::vector<std::string> services) : services_(std::move(services)) {}

  // Accepts calls of `endpoint` on a queue of its server, whose thread does not run yet;
  // see CallQueue. This and `endpoint` must outlive the queue. Once per queue, by one
  // thread at a time.
  void AcceptCalls(Endpoint& endpoint, CallQueue& queue);

  // Before the server stops: ends the open streams, and later ones at once, with
  // UNAVAILABLE.
  void EndStreams() {
    for (const auto& methods : queues_) methods->EndStreams();
  }

 private:
  const std::vector<std::string> services_;
  std::vector<std::unique_ptr<QueuedMethods>> queues_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_REFLECTION_SERVICE_H_
