#ifndef TTL_SERVICE_TRANSPORT_CALLS_EXCHANGE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_EXCHANGE_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "service/base/done.h"

namespace ttl {

// A request and its response, both as bytes: one call of a unary method, or one message of a
// stream. Objects are reused for later calls, so that messages keep their memory. Used by one
// thread at a time.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Parses the request and may clear `request`. Returns false if it is not a message of the
  // method's request type; then there is no response.
  virtual bool Read(grpc::ByteBuffer& request) = 0;

  // Called before Handle() with the call of the request, which lives until Clear().
  virtual void SetCall(const grpc::ServerContextBase& /*call*/) {}

  // Handles the request and calls `done` exactly once, on any thread. This must live until then.
  virtual void Handle(DoneStatus done) = 0;

  // Called after Handle() is done: frees the request, so that it is not kept while a slow client
  // reads the response.
  virtual void DropRequest() = 0;

  // The response, valid after Handle() is done. A message of a stream has one whatever the status,
  // a unary call only if the status is OK.
  virtual grpc::ByteBuffer& Write() = 0;

  // Clears request and response; memory may be kept.
  virtual void Clear() = 0;
};

using NewExchange = std::function<std::unique_ptr<Exchange>()>;

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_EXCHANGE_H_
