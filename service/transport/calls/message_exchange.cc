#include "service/transport/calls/message_exchange.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "service/base/error_details.h"

namespace ttl {
namespace {

// A message above this size does not keep its memory for the next one.
constexpr size_t kMaxKeptRequestBytes = size_t{64} << 10;

}  // namespace

bool ParseMessage(grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  bool parsed = false;
  {
    grpc::ProtoBufferReader reader(&bytes);
    parsed = reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
  }
  bytes.Clear();
  return parsed;
}

grpc::ByteBuffer SerializeMessage(const google::protobuf::Message& message) {
  const grpc::Slice slice(message.ByteSizeLong());
  // The slice is not shared yet.
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status UnparsableRequest() {
  return MakeError(Reason::kUnreadableRequest, "Unable to parse request");
}

bool MessageExchange::Read(grpc::ByteBuffer& request) {
  request_bytes_ = request.Length();
  return ParseMessage(request, *request_);
}

void MessageExchange::DropRequest() {
  if (std::exchange(request_bytes_, 0) > kMaxKeptRequestBytes) request_.reset(request_->New());
}

grpc::ByteBuffer& MessageExchange::Write() {
  bytes_ = SerializeMessage(*response_);
  return bytes_;
}

void MessageExchange::Clear() {
  bytes_.Clear();
  response_->Clear();
}

}  // namespace ttl
