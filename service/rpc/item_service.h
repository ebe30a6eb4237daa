#ifndef TTL_SERVICE_RPC_ITEM_SERVICE_H_
#define TTL_SERVICE_RPC_ITEM_SERVICE_H_

#include "absl/status/status.h"
#include "service/core/guarded_clock.h"
#include "service/rpc/check_counters.h"
#include "service/storage/containers.h"
#include "service/storage/items.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {

// The gRPC service of the same name: the data path. Thread-safe; never waits for
// a change to become durable, and reads storage on the calling thread.
class ItemService final : public v1::ItemService::CallbackService {
 public:
  // All must outlive this.
  ItemService(const Containers& containers, Items& items, const GuardedClock& clock,
              CheckCounters& counters);

  grpc::ServerUnaryReactor* TrackItems(grpc::CallbackServerContext* context,
                                       const v1::TrackItemsRequest* request,
                                       v1::TrackItemsResponse* response) override;
  grpc::ServerUnaryReactor* UntrackItems(grpc::CallbackServerContext* context,
                                         const v1::UntrackItemsRequest* request,
                                         v1::UntrackItemsResponse* response) override;
  grpc::ServerUnaryReactor* CheckVisibility(grpc::CallbackServerContext* context,
                                            const v1::CheckVisibilityRequest* request,
                                            v1::CheckVisibilityResponse* response) override;
  grpc::ServerUnaryReactor* GetItem(grpc::CallbackServerContext* context,
                                    const v1::GetItemRequest* request,
                                    v1::GetItemResponse* response) override;
  grpc::ServerUnaryReactor* ListItems(grpc::CallbackServerContext* context,
                                      const v1::ListItemsRequest* request,
                                      v1::ListItemsResponse* response) override;

 private:
  absl::Status Check(const v1::CheckVisibilityRequest& request,
                     v1::CheckVisibilityResponse& response);
  absl::Status Get(const v1::GetItemRequest& request, v1::GetItemResponse& response) const;
  absl::Status List(const v1::ListItemsRequest& request, v1::ListItemsResponse& response) const;

  const Containers& containers_;
  Items& items_;
  const GuardedClock& clock_;
  CheckCounters& counters_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_ITEM_SERVICE_H_
