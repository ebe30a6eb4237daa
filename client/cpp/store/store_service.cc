#include "ttl/store_service.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/store/conditional_delete.h"
#include "client/cpp/store/store_scan.h"
#include "ttl/proto_time.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {
namespace {

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

class StoreService final : public v1::PrimaryStoreService::Service {
 public:
  explicit StoreService(PrimaryStore& store) : store_(store) {}

  grpc::Status GetStoreInfo(grpc::ServerContext* /*context*/,
                            const v1::GetStoreInfoRequest* /*request*/,
                            v1::GetStoreInfoResponse* response) override {
    const StoreFeatures features = store_.features();
    response->set_store_id(store_.store_id());
    *response->mutable_now() = ToTimestamp(store_.Now());
    response->set_max_batch_items(features.max_batch_items);
    response->add_capabilities(v1::STORE_CAPABILITY_ETAG);
    if (features.scans) response->add_capabilities(v1::STORE_CAPABILITY_SCAN);
    if (features.knows_expire_at) response->add_capabilities(v1::STORE_CAPABILITY_EXPIRE_AT);
    return grpc::Status::OK;
  }

  grpc::Status DeleteItems(grpc::ServerContext* /*context*/, const v1::DeleteItemsRequest* request,
                           v1::DeleteItemsResponse* response) override {
    absl::StatusOr<v1::DeleteItemsResponse> deleted = DeleteExpiredItems(store_, *request);
    if (!deleted.ok()) return ToGrpc(deleted.status());
    *response = *std::move(deleted);
    return grpc::Status::OK;
  }

  grpc::Status ScanItems(grpc::ServerContext* /*context*/, const v1::ScanItemsRequest* request,
                         grpc::ServerWriter<v1::ScanItemsResponse>* writer) override {
    return ToGrpc(ScanStore(store_, *request, [&](const v1::ScanItemsResponse& message) {
      return writer->Write(message);
    }));
  }

 private:
  PrimaryStore& store_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewStoreService(PrimaryStore& store) {
  return std::make_unique<StoreService>(store);
}

}  // namespace ttl
