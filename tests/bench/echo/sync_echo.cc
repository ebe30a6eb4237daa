#include "tests/bench/echo/sync_echo.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <memory>

#include "tests/bench/echo/answers.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

class SyncService final : public v1::ItemService::Service {
 public:
  grpc::Status CheckVisibility(grpc::ServerContext* /*context*/,
                               const v1::CheckVisibilityRequest* request,
                               v1::CheckVisibilityResponse* response) override {
    *response = answers_.check.For(*request);
    return grpc::Status::OK;
  }

  grpc::Status TrackItems(grpc::ServerContext* /*context*/, const v1::TrackItemsRequest* request,
                          v1::TrackItemsResponse* response) override {
    *response = answers_.track.For(*request);
    return grpc::Status::OK;
  }

 private:
  const AllAnswers answers_{};
};

}  // namespace

bool ServeSync(const std::string& address) {
  SyncService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return false;
  server->Wait();
  return true;
}

}  // namespace ttl::bench
