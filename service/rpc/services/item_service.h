#ifndef TTL_SERVICE_RPC_SERVICES_ITEM_SERVICE_H_
#define TTL_SERVICE_RPC_SERVICES_ITEM_SERVICE_H_

#include "service/base/done.h"
#include "service/rpc/services/item_calls.h"
#include "service/transport/calls/rpc_service.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {

// The gRPC service ItemService, over ItemCalls. Checks are read and written as bytes (see
// CheckRequest), other calls as generated messages. No thread waits for a commit. Thread-safe once
// it accepts calls.
class ItemService final : public RpcService {
 public:
  // `calls` must outlive this.
  explicit ItemService(ItemCalls& calls) : calls_(calls) {}

  const google::protobuf::ServiceDescriptor& descriptor() const override;
  void AddMethods(MethodTable& table) override;

 private:
  void TrackStreamed(const v1::StreamTrackItemsRequest& request,
                     v1::StreamTrackItemsResponse& response, DoneStatus done);

  ItemCalls& calls_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_ITEM_SERVICE_H_
