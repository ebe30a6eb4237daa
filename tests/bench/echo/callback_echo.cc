#include "tests/bench/echo/callback_echo.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <memory>

#include "tests/bench/echo/answers.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

using CallbackService = v1::ItemService::WithCallbackMethod_CheckVisibility<
    v1::ItemService::WithCallbackMethod_TrackItems<v1::ItemService::Service>>;

class CallbackEcho final : public CallbackService {
 public:
  grpc::ServerUnaryReactor* CheckVisibility(grpc::CallbackServerContext* context,
                                            const v1::CheckVisibilityRequest* request,
                                            v1::CheckVisibilityResponse* response) override {
    *response = answers_.check.For(*request);
    return Finish(context);
  }

  grpc::ServerUnaryReactor* TrackItems(grpc::CallbackServerContext* context,
                                       const v1::TrackItemsRequest* request,
                                       v1::TrackItemsResponse* response) override {
    *response = answers_.track.For(*request);
    return Finish(context);
  }

 private:
  static grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  const AllAnswers answers_{};
};

}  // namespace

bool ServeByCallbacks(const std::string& address) {
  CallbackEcho service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return false;
  server->Wait();
  return true;
}

}  // namespace ttl::bench
