#ifndef TTL_SERVICE_TRANSPORT_CALLS_MESSAGE_EXCHANGE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_MESSAGE_EXCHANGE_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "service/base/done.h"
#include "service/transport/calls/exchange.h"

namespace ttl {

// Parses `bytes`, which are cleared, into `message`. Returns false if they are malformed.
bool ParseMessage(grpc::ByteBuffer& bytes, google::protobuf::Message& message);

// The wire format of `message`.
grpc::ByteBuffer SerializeMessage(const google::protobuf::Message& message);

// The status of a call whose request cannot be parsed, with the code and text of gRPC's generated
// services.
absl::Status UnparsableRequest();

// An exchange of generated messages.
class MessageExchange final : public Exchange {
 public:
  // Fills the empty response and calls `done` exactly once, on any thread. Both messages and the
  // call live until then.
  using Handler = std::function<void(const grpc::ServerContextBase& call,
                                     const google::protobuf::Message& request,
                                     google::protobuf::Message& response, DoneStatus done)>;

  // Creates its messages from the prototypes. `handler` must outlive this.
  MessageExchange(const google::protobuf::Message& request_prototype,
                  const google::protobuf::Message& response_prototype, const Handler& handler)
      : handler_(handler), request_(request_prototype.New()), response_(response_prototype.New()) {}

  bool Read(grpc::ByteBuffer& request) override;
  void SetCall(const grpc::ServerContextBase& call) override { call_ = &call; }
  void Handle(DoneStatus done) override {
    handler_(*call_, *request_, *response_, std::move(done));
  }
  void DropRequest() override;
  grpc::ByteBuffer& Write() override;
  void Clear() override;

 private:
  const Handler& handler_;
  std::unique_ptr<google::protobuf::Message> request_;
  const grpc::ServerContextBase* call_ = nullptr;
  size_t request_bytes_ = 0;
  const std::unique_ptr<google::protobuf::Message> response_;
  grpc::ByteBuffer bytes_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_MESSAGE_EXCHANGE_H_
