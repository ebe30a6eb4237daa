#ifndef TTL_CLIENT_CPP_HEALTH_STUB_H_
#define TTL_CLIENT_CPP_HEALTH_STUB_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "google/protobuf/wrappers.pb.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"

namespace ttl {

// Calls grpc.health.v1.Health/Check by messages of protobuf that have the same bytes as its own.
// Code generated from health.proto must not be in the client library: in a program that has that
// code too, it would be registered twice, which ends the program. Thread-safe.
class HealthStub {
 public:
  using Request = google::protobuf::StringValue;  // HealthCheckRequest.service
  using Response = google::protobuf::Int32Value;  // HealthCheckResponse.status

  static constexpr int32_t kServing = 1;

  explicit HealthStub(std::shared_ptr<grpc::Channel> channel);

  static Request AskFor(absl::string_view health_service);

  grpc::Status Check(grpc::ClientContext* context, const Request& request, Response* response);

 private:
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_HEALTH_STUB_H_
