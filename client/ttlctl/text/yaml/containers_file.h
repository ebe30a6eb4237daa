#ifndef TTL_CLIENT_TTLCTL_TEXT_YAML_CONTAINERS_FILE_H_
#define TTL_CLIENT_TTLCTL_TEXT_YAML_CONTAINERS_FILE_H_

#include <cstddef>
#include <vector>

#include "nlohmann/json.hpp"
#include "ttl/v1/container.pb.h"

namespace ttl {

// The longest containers file that apply takes: enough for some ten thousand entries with all keys.
inline constexpr size_t kMaxContainersFileBytes = size_t{8} << 20;

// The content of a containers file (see container_entries.h) whose entries describe the containers
// as they are. Settings at their default are left out. Pure.
nlohmann::ordered_json ContainersFile(const std::vector<v1::Container>& containers);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_YAML_CONTAINERS_FILE_H_
