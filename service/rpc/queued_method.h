#ifndef TTL_SERVICE_RPC_QUEUED_METHOD_H_
#define TTL_SERVICE_RPC_QUEUED_METHOD_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "service/rpc/call_queue.h"
#include "service/rpc/call_step.h"

namespace ttl {

// A method of a service, served on one CallQueue. Destroyed after the queue.
class QueuedMethod {
 public:
  virtual ~QueuedMethod() = default;

  // Before the server stops, on the queue's thread: ends open streams, and later ones
  // at once, with `status`. Unary calls end by themselves.
  virtual void EndStreams(const absl::Status& /*status*/) {}
};

// The methods of one service on one queue. Destroyed after the queue.
class QueuedMethods final : public CallStep {
 public:
  explicit QueuedMethods(CallQueue& queue) : queue_(queue) {}

  CallQueue& queue() { return queue_; }

  // While the queue's thread does not run yet.
  void Add(std::unique_ptr<QueuedMethod> method) { methods_.push_back(std::move(method)); }

  // Before the server stops, on any thread; see QueuedMethod.
  void EndStreams() { queue_.Post(*this); }

 private:
  void Proceed(bool /*ok*/) override {
    for (const auto& method : methods_) {
      method->EndStreams(absl::UnavailableError("the sidecar is shutting down"));
    }
  }

  CallQueue& queue_;
  std::vector<std::unique_ptr<QueuedMethod>> methods_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_QUEUED_METHOD_H_
