#include "client/postgres/store/store_server.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/store/bound_address.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/server_builder.h"
#include "service/base/status_macros.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl::postgres {
namespace {

// The sidecar makes a few concurrent calls.
constexpr int kMaxThreads = 64;
// Fits a thousand items with keys of 3 KiB.
constexpr int kMaxMessageBytes = 16 << 20;
constexpr std::chrono::seconds kStopWait(1);
constexpr char kWithdrawn[] = "it begins anew, or stops";

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

template <typename Response>
grpc::Status Answer(absl::StatusOr<Response> result, Response* response) {
  if (!result.ok()) return ToGrpc(result.status());
  *response = *std::move(result);
  return grpc::Status::OK;
}

absl::Time DeadlineOf(const grpc::ServerContext& context) {
  return absl::FromChrono(context.deadline());
}

class Service final : public v1::PrimaryStoreService::Service {
 public:
  explicit Service(ServedStore& store) : store_(store) {}

  grpc::Status GetStoreInfo(grpc::ServerContext* context, const v1::GetStoreInfoRequest*,
                            v1::GetStoreInfoResponse* response) override {
    return Ask(*context, [&](PrimaryStore& store) {
      return Answer(store.GetStoreInfo(DeadlineOf(*context)), response);
    });
  }

  grpc::Status DeleteItems(grpc::ServerContext* context, const v1::DeleteItemsRequest* request,
                           v1::DeleteItemsResponse* response) override {
    return Ask(*context, [&](PrimaryStore& store) {
      return Answer(store.DeleteItems(*request, DeadlineOf(*context)), response);
    });
  }

  grpc::Status ScanItems(grpc::ServerContext* context, const v1::ScanItemsRequest* request,
                         grpc::ServerWriter<v1::ScanItemsResponse>* writer) override {
    return Ask(*context, [&](PrimaryStore& store) {
      return ToGrpc(store.ScanItems(
          *request, DeadlineOf(*context), [&] { return context->IsCancelled(); },
          [&](const v1::ScanItemsResponse& message) { return writer->Write(message); }));
    });
  }

 private:
  // Returns the result of `call` on the store; UNAVAILABLE if there is none.
  template <typename Call>
  grpc::Status Ask(grpc::ServerContext& context, Call call) {
    PrimaryStore* const store = store_.Take(context);
    if (store == nullptr) {
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "ttl-postgres waits for its database");
    }
    const grpc::Status status = call(*store);
    store_.Release(context);
    return status;
  }

  ServedStore& store_;
};

}  // namespace

StoreServer::StoreServer(const WallClock& clock)
    : store_(std::make_unique<ServedStore>()),
      service_(std::make_unique<Service>(*store_)),
      state_(clock) {}

absl::StatusOr<std::unique_ptr<StoreServer>> StoreServer::Start(const std::string& address,
                                                                const WallClock& clock,
                                                                const std::string& health_address) {
  TTL_ASSIGN_OR_RETURN(SocketClaim claim, SocketClaim::Take(address));
  std::unique_ptr<StoreServer> server(new StoreServer(clock));
  server->claim_ = std::move(claim);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // gRPC checks a message's size only after decompression, so compressed calls return
  // UNIMPLEMENTED.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                             1 << GRPC_COMPRESS_NONE);
  builder.SetResourceQuota(grpc::ResourceQuota("ttl-postgres").SetMaxThreads(kMaxThreads));
  builder.RegisterService(server->service_.get());
  builder.RegisterService(&server->state_);
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address));
  }
  server->address_ = BoundAddress(address, port);
  if (!health_address.empty()) {
    TTL_ASSIGN_OR_RETURN(server->health_, HealthServer::Start(health_address));
  }
  server->SetServing("startup", true);
  server->SetServing("liveness", true);
  server->SetProblem(server->state_.Get().problem);
  return server;
}

void StoreServer::Serve(PrimaryStore& store) { store_->Set(store); }

void StoreServer::Withdraw() {
  SetProblem(kWithdrawn);
  store_->Withdraw();
}

void StoreServer::SetProblem(const std::string& problem) {
  state_.SetProblem(problem);
  const bool ready = problem.empty();
  SetServing("readiness", ready);
  SetServing("", ready);
}

void StoreServer::SetServing(const std::string& service, bool is_serving) {
  server_->GetHealthCheckService()->SetServingStatus(service, is_serving);
  if (health_ != nullptr) health_->SetServing(service, is_serving);
}

StoreServer::~StoreServer() {
  if (server_ == nullptr) return;
  store_->Withdraw();
  server_->Shutdown(std::chrono::system_clock::now() + kStopWait);
  server_->Wait();
}

}  // namespace ttl::postgres
