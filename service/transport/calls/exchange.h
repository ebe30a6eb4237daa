#ifndef TTL_SERVICE_TRANSPORT_CALLS_EXCHANGE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_EXCHANGE_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "service/base/done.h"

namespace ttl {

// A request that is answered by one response, both as bytes: what a method does for each
// call, or for each message of a stream. It is used for one after the other, so that the
// memory of messages is reused, and by one thread at a time.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Takes the request, which may be left empty. False if its bytes are no message of the
  // method's request type; then there is no response.
  virtual bool Read(grpc::ByteBuffer& request) = 0;

  // Before Handle(): the call that the request came with, which lives until Clear().
  virtual void SetCall(const grpc::ServerContextBase& /*call*/) {}

  // Works on the request that was read, and calls `done` once, on any thread. This must
  // live until then.
  virtual void Handle(DoneStatus done) = 0;

  // After Handle() is done: lets go of the request, which else would stay for as long as the client
  // takes no answer.
  virtual void DropRequest() = 0;

  // The response, after Handle() is done. Of a message of a stream there is one whatever
  // the status; of a call only if that is OK.
  virtual grpc::ByteBuffer& Write() = 0;

  // Drops what was read and written; memory may be kept.
  virtual void Clear() = 0;
};

using NewExchange = std::function<std::unique_ptr<Exchange>()>;

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_EXCHANGE_H_
