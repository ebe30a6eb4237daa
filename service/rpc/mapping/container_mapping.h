#ifndef TTL_SERVICE_RPC_MAPPING_CONTAINER_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_CONTAINER_MAPPING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/tally_view.h"
#include "ttl/v1/container.pb.h"
#include "ttl/v1/container_service.pb.h"

// Containers between the API and our own types. Pure functions.
namespace ttl {

v1::Container ToProto(const Container& container);

v1::IndexProgress IndexProgressOf(const Container& container);

// The settings in `container`; fields set by the server are ignored. Ranges are
// not looked at, which is ValidateSettings' task; INVALID_ARGUMENT only for what
// ContainerSettings cannot hold.
absl::StatusOr<ContainerSettings> ReadSettings(const v1::Container& container);

// What an UpdateContainerRequest wants changed.
struct ContainerUpdate {
  v1::Container values;  // its etag is not compared if empty
  std::vector<std::string> paths;
};

// INVALID_ARGUMENT if the mask is empty or names what cannot be changed, naming
// the path. Fields that are not named may hold anything.
absl::StatusOr<ContainerUpdate> ReadUpdate(const v1::UpdateContainerRequest& request);

// The settings of `present` with `update` applied; ABORTED if the update is for
// another version. The result may still be invalid.
absl::StatusOr<ContainerSettings> ApplyUpdate(const ContainerUpdate& update,
                                              const Container& present);

// What replacing `present` by the policy of `next` would do at `now`.
v1::PolicyPreview MakePreview(const TallyView& tally, const Policy& present,
                              const ContainerSettings& next, absl::Time now);

// The settings in one line, for logs.
std::string Describe(const ContainerSettings& settings);

// The brakes that are pulled at `now` and how many items each holds back, for logs.
std::string DescribePulledBrakes(const Container& container, absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_CONTAINER_MAPPING_H_
