#ifndef TTL_SERVICE_TRANSPORT_CALLS_CALL_STEP_H_
#define TTL_SERVICE_TRANSPORT_CALLS_CALL_STEP_H_

namespace ttl {

// What a CallQueue runs next of an asynchronous call: the tag of an operation of
// gRPC's, or something posted.
class CallStep {
 public:
  // The operation has ended; `ok` is what gRPC says of it (see
  // grpc::CompletionQueue::Next), and true for what was posted. Runs on the
  // queue's thread and must not block. May delete this.
  virtual void Proceed(bool ok) = 0;

 protected:
  ~CallStep() = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_CALL_STEP_H_
