#ifndef TTL_SERVICE_SERVER_CONFIG_ENVIRONMENT_H_
#define TTL_SERVICE_SERVER_CONFIG_ENVIRONMENT_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ttl {

// Prefix of our environment variables.
inline constexpr absl::string_view kEnvironmentPrefix = "TTL_SIDECAR_";

// Returns the names in `environment` (NAME=VALUE strings, null-terminated) that have our prefix and
// are not in `known`, and so are probably mistyped; sorted. Excludes variables of ttlctl, and those
// that Kubernetes sets for services whose names begin like ours.
std::vector<std::string> UnknownVariables(const char* const* environment,
                                          const std::set<std::string>& known);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_ENVIRONMENT_H_
