// A primary store that answers every delete with DELETED at once, so that a sweep shows
// what the sidecar can do by itself.
//
//   store_stub --listen unix:PATH
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace {

void SetNow(google::protobuf::Timestamp& timestamp) {
  const timespec now = absl::ToTimespec(absl::Now());
  timestamp.set_seconds(now.tv_sec);
  timestamp.set_nanos(static_cast<int32_t>(now.tv_nsec));
}

class Service final : public ttl::v1::PrimaryStoreService::Service {
 public:
  grpc::Status GetStoreInfo(grpc::ServerContext* /*context*/,
                            const ttl::v1::GetStoreInfoRequest* /*request*/,
                            ttl::v1::GetStoreInfoResponse* response) override {
    response->set_store_id("store-stub");
    SetNow(*response->mutable_now());
    return grpc::Status::OK;
  }

  grpc::Status DeleteItems(grpc::ServerContext* /*context*/,
                           const ttl::v1::DeleteItemsRequest* request,
                           ttl::v1::DeleteItemsResponse* response) override {
    for (int i = 0; i < request->items_size(); ++i) {
      response->add_results()->set_outcome(ttl::v1::DELETE_OUTCOME_DELETED);
    }
    SetNow(*response->mutable_store_now());
    return grpc::Status::OK;
  }
};

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  std::string address;
  CLI::App app("A store that has deleted everything at once");
  app.add_option("--listen", address, "gRPC address, unix:PATH")->required();
  CLI11_PARSE(app, argc, argv);
  Service service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  server->Wait();
  return 0;
}
