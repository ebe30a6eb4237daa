#ifndef TTL_SERVICE_RPC_EXPIRY_MAPPING_H_
#define TTL_SERVICE_RPC_EXPIRY_MAPPING_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "google/protobuf/repeated_field.h"
#include "service/core/container.h"
#include "service/core/delete_holds.h"
#include "service/core/guarded_clock.h"
#include "service/core/sweep_board.h"
#include "service/storage/expiry_index.h"
#include "ttl/v1/expiry_service.pb.h"

// Status of clock, store and deletes, as the API shows it. Pure functions.
namespace ttl {

v1::ClockStatus ToProto(const ClockStatus& status);
v1::StoreStatus ToProto(const StoreView& store);
v1::PauseState ToProto(const Pause& pause);
v1::DeleteTally ToProto(const DeleteTally& tally);

void AddHolds(const std::vector<DeleteHold>& holds, google::protobuf::RepeatedField<int>& out);

// Deletes per second allowed for a container: the lesser of its own rate (or
// else the server's default) and the one of all; absent: no limit.
std::optional<double> AllowedDeletesPerSecond(std::optional<double> own,
                                              std::optional<double> container_default,
                                              std::optional<double> overall);

v1::ContainerExpiryStatus MakeContainerStatus(const Container& container, const Backlog& backlog,
                                              const ContainerSweepView& sweep,
                                              const std::vector<DeleteHold>& holds,
                                              std::optional<double> allowed_per_second,
                                              absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_EXPIRY_MAPPING_H_
