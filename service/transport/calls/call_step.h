#ifndef TTL_SERVICE_TRANSPORT_CALLS_CALL_STEP_H_
#define TTL_SERVICE_TRANSPORT_CALLS_CALL_STEP_H_

namespace ttl {

// A step of an asynchronous call, run by its CallQueue: the tag of a gRPC operation, or a posted
// step.
class CallStep {
 public:
  // Runs when the operation has ended. `ok` is as in grpc::CompletionQueue::Next, and true for
  // posted steps. Runs on the queue's thread and must not block. May delete this.
  virtual void Proceed(bool ok) = 0;

 protected:
  ~CallStep() = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_CALL_STEP_H_
