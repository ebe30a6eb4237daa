#ifndef TTL_SERVICE_STORAGE_COMMIT_CONTAINER_CHANGES_H_
#define TTL_SERVICE_STORAGE_COMMIT_CONTAINER_CHANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "service/core/container.h"

namespace ttl {

// What has happened to the set of containers since a revision of it.
struct ContainerChanges {
  // The revision that this leads to.
  uint64_t revision = 0;
  // Those created or changed, as they are now.
  std::vector<ContainerPtr> containers;
  // Ids of those deleted. If another one of that id lives by now, it is in
  // `containers` too.
  std::vector<std::string> deleted;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_CONTAINER_CHANGES_H_
