#ifndef TTL_SERVICE_RPC_SERVICES_HOLD_SERVICE_H_
#define TTL_SERVICE_RPC_SERVICES_HOLD_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "service/base/done.h"
#include "service/core/guarded_clock.h"
#include "service/storage/containers.h"
#include "service/storage/holds.h"
#include "service/transport/calls/rpc_service.h"
#include "ttl/v1/hold_service.pb.h"

namespace ttl {

// The gRPC service HoldService. Every change is logged with its caller. Thread-safe. No call thread
// waits for a commit or for deletes in flight.
class HoldService final : public RpcService {
 public:
  // All must outlive this.
  HoldService(const Containers& containers, Holds& holds, const GuardedClock& clock)
      : containers_(containers), holds_(holds), clock_(clock) {}

  const google::protobuf::ServiceDescriptor& descriptor() const override;
  void AddMethods(MethodTable& table) override;

  // ListHolds. Reads nothing from disk.
  absl::Status List(const v1::ListHoldsRequest& request, v1::ListHoldsResponse& response) const;

 private:
  void Place(const std::string& author, const v1::PlaceHoldRequest& request,
             v1::PlaceHoldResponse& response, DoneStatus done);
  void Release(const std::string& author, const v1::ReleaseHoldRequest& request,
               v1::ReleaseHoldResponse& response, DoneStatus done);
  void Accept(const std::string& author, const v1::AcceptHoldsRequest& request,
              v1::AcceptHoldsResponse& response, DoneStatus done);
  absl::Status ListKeys(const v1::ListHeldKeysRequest& request,
                        v1::ListHeldKeysResponse& response) const;

  const Containers& containers_;
  Holds& holds_;
  const GuardedClock& clock_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_HOLD_SERVICE_H_
