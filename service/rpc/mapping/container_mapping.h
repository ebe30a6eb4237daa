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

// Conversions between containers of the API and ours. Pure functions.
namespace ttl {

// `holds_in_doubt`: see Holds::AreInDoubt(); the container then counts as one with holds.
v1::Container ToProto(const Container& container, bool holds_in_doubt);

v1::IndexProgress IndexProgressOf(const Container& container);

// The settings in `container`; fields set by the server are ignored. Ranges are checked by
// ValidateSettings, not here; INVALID_ARGUMENT only for values that ContainerSettings cannot hold.
absl::StatusOr<ContainerSettings> ReadSettings(const v1::Container& container);

// The change that an UpdateContainerRequest asks for.
struct ContainerUpdate {
  v1::Container values;  // an empty etag is not compared
  std::vector<std::string> paths;
};

// INVALID_ARGUMENT if the mask is empty, or names a field that cannot be changed. Fields that the
// mask does not name are not validated.
absl::StatusOr<ContainerUpdate> ReadUpdate(const v1::UpdateContainerRequest& request);

// The settings of `present` with `update` applied; ABORTED if the etags differ. The result is not
// validated.
absl::StatusOr<ContainerSettings> ApplyUpdate(const ContainerUpdate& update,
                                              const Container& present);

// The effect of replacing the policy `present` by that of `next` at `now`.
v1::PolicyPreview MakePreview(const TallyView& tally, const Policy& present,
                              const ContainerSettings& next, absl::Time now);

// The settings in one line, for the log.
std::string Describe(const ContainerSettings& settings);

// The brakes that are pulled at `now`, with the number of items each holds back, for the log.
std::string DescribePulledBrakes(const Container& container, absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_CONTAINER_MAPPING_H_
