#ifndef TTL_SERVICE_RPC_MAPPING_EXPIRY_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_EXPIRY_MAPPING_H_

#include <vector>

#include "google/protobuf/repeated_field.h"
#include "service/core/container.h"
#include "service/core/delete_holds.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/published_sweep.h"
#include "ttl/v1/expiry_service.pb.h"

// Conversions of the status of clock, store and deletes to the API. Pure functions.
namespace ttl {

v1::ClockStatus ToProto(const ClockStatus& status);
v1::StoreStatus ToProto(const StoreView& store);
v1::PauseState ToProto(const Pause& pause);
v1::DeleteTally ToProto(const DeleteTally& tally);

void AddHolds(const std::vector<DeleteHold>& holds, google::protobuf::RepeatedField<int>& out);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_EXPIRY_MAPPING_H_
