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

// What a gRPC server registers of a service: its methods, each asynchronous and over
// bytes. It takes the place of the generated class, whose templates take most of the time
// to compile a server, once for each message type of each method. A server has one of its
// own for each service. Thread-safe once it is registered.
class ByteService final : public grpc::Service {
 public:
  using UnaryWriter = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;
  using StreamWriter = grpc::ServerAsyncWriter<grpc::ByteBuffer>;
  using StreamReaderWriter = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  // All methods of `descriptor`, which must outlive this.
  explicit ByteService(const google::protobuf::ServiceDescriptor& descriptor);

  const google::protobuf::ServiceDescriptor& descriptor() const { return descriptor_; }

  // Each asks gRPC for one call of `method`, of that kind: `tag` comes out of `queue` when
  // the call is there, or, not ok, when the server shuts down. REQUIRES: the method is of
  // descriptor(), the server has started, and the first three live until the call ends.
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
