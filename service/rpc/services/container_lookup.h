#ifndef TTL_SERVICE_RPC_SERVICES_CONTAINER_LOOKUP_H_
#define TTL_SERVICE_RPC_SERVICES_CONTAINER_LOOKUP_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/container.h"
#include "service/storage/containers.h"

namespace ttl {

// The container with that id; NOT_FOUND, naming it, if it does not exist.
absl::StatusOr<ContainerPtr> FindContainer(const Containers& containers, absl::string_view id);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_CONTAINER_LOOKUP_H_
