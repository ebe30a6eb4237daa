#ifndef TTL_SERVICE_TRANSPORT_CALLS_BYTE_SERVICE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_BYTE_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <string>

namespace ttl {

// The methods of a service as registered with a gRPC server, all asynchronous and over bytes.
// Replaces the generated class, whose templates, instantiated for each method and message type,
// dominate compile time. Each server has its own instance. Thread-safe once it is registered.
class ByteService final : public grpc::Service {
 public:
  using UnaryWriter = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;
  using StreamWriter = grpc::ServerAsyncWriter<grpc::ByteBuffer>;
  using StreamReaderWriter = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  // Registers all methods of `descriptor`, which must outlive this.
  explicit ByteService(const google::protobuf::ServiceDescriptor& descriptor);

  const google::protobuf::ServiceDescriptor& descriptor() const { return descriptor_; }

  // Each requests one call of `method`, which must be of that kind. `queue` returns `tag` when a
  // call has arrived, or with ok = false when the server shuts down. REQUIRES: the method belongs
  // to descriptor(), the server has started, and context, request and writer or stream live until
  // the call ends.
  void RequestUnary(const google::protobuf::MethodDescriptor& method, grpc::ServerContext& context,
                    grpc::ByteBuffer& request, UnaryWriter& writer,
                    grpc::ServerCompletionQueue& queue, void* tag);
  void RequestServerStream(const google::protobuf::MethodDescriptor& method,
                           grpc::ServerContext& context, grpc::ByteBuffer& request,
                           StreamWriter& writer, grpc::ServerCompletionQueue& queue, void* tag);
  void RequestBidiStream(const google::protobuf::MethodDescriptor& method,
                         grpc::ServerContext& context, StreamReaderWriter& stream,
                         grpc::ServerCompletionQueue& queue, void* tag);

 private:
  const google::protobuf::ServiceDescriptor& descriptor_;
  std::deque<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_BYTE_SERVICE_H_
