#include "client/cpp/health_stub.h"

#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/impl/codegen/proto_utils.h"

namespace ttl {

HealthStub::HealthStub(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {}

HealthStub::Request HealthStub::AskFor(absl::string_view health_service) {
  Request request;
  request.set_value(std::string(health_service));
  return request;
}

grpc::Status HealthStub::Check(grpc::ClientContext* context, const Request& request,
                               Response* response) {
  grpc::TemplatedGenericStub<Request, Response> stub(channel_);
  grpc::Status status;
  absl::Notification done;
  stub.UnaryCall(context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request, response,
                 [&](grpc::Status result) {
                   status = std::move(result);
                   done.Notify();
                 });
  done.WaitForNotification();
  return status;
}

}  // namespace ttl
