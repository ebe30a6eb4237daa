#include "service/transport/calls/byte_service.h"

#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/impl/rpc_service_method.h>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

using google::protobuf::MethodDescriptor;
using grpc::internal::RpcMethod;

RpcMethod::RpcType TypeOf(const MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC;
}

}  // namespace

ByteService::ByteService(const google::protobuf::ServiceDescriptor& descriptor)
    : descriptor_(descriptor) {
  for (int i = 0; i < descriptor.method_count(); ++i) {
    const MethodDescriptor& method = *descriptor.method(i);
    const std::string& path =
        paths_.emplace_back(absl::StrCat("/", descriptor.full_name(), "/", method.name()));
    AddMethod(new grpc::internal::RpcServiceMethod(path.c_str(), TypeOf(method),
                                                   /*handler=*/nullptr));  // grpc::Service owns it
    MarkMethodRaw(i);
  }
}

void ByteService::RequestUnary(const MethodDescriptor& method, grpc::ServerContext& context,
                               grpc::ByteBuffer& request, UnaryWriter& writer,
                               grpc::ServerCompletionQueue& queue, void* tag) {
  RequestAsyncUnary(method.index(), &context, &request, &writer, &queue, &queue, tag);
}

void ByteService::RequestServerStream(const MethodDescriptor& method, grpc::ServerContext& context,
                                      grpc::ByteBuffer& request, StreamWriter& writer,
                                      grpc::ServerCompletionQueue& queue, void* tag) {
  RequestAsyncServerStreaming(method.index(), &context, &request, &writer, &queue, &queue, tag);
}

void ByteService::RequestBidiStream(const MethodDescriptor& method, grpc::ServerContext& context,
                                    StreamReaderWriter& stream, grpc::ServerCompletionQueue& queue,
                                    void* tag) {
  RequestAsyncBidiStreaming(method.index(), &context, &stream, &queue, &queue, tag);
}

}  // namespace ttl
