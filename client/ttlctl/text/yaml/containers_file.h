#ifndef TTL_CLIENT_TTLCTL_TEXT_YAML_CONTAINERS_FILE_H_
#define TTL_CLIENT_TTLCTL_TEXT_YAML_CONTAINERS_FILE_H_

#include <vector>

#include "nlohmann/json.hpp"
#include "ttl/v1/container.pb.h"

namespace ttl {

// The content of a containers file (see container_entries.h) whose entries describe the containers
// as they are. Settings at their default are left out. Pure.
nlohmann::ordered_json ContainersFile(const std::vector<v1::Container>& containers);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_YAML_CONTAINERS_FILE_H_
