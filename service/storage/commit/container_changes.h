#ifndef TTL_SERVICE_STORAGE_COMMIT_CONTAINER_CHANGES_H_
#define TTL_SERVICE_STORAGE_COMMIT_CONTAINER_CHANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "service/core/container.h"

namespace ttl {

// The changes to the set of containers since a revision.
struct ContainerChanges {
  // The revision after these changes.
  uint64_t revision = 0;
  // The containers that were created or changed, in their present state.
  std::vector<ContainerPtr> containers;
  // The ids of deleted containers. If a container with the same id was created since, it is in
  // `containers` too.
  std::vector<std::string> deleted;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_CONTAINER_CHANGES_H_
