#ifndef TTL_SERVICE_SERVER_CONFIG_ENVIRONMENT_H_
#define TTL_SERVICE_SERVER_CONFIG_ENVIRONMENT_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ttl {

// What the names of our environment variables begin with.
inline constexpr absl::string_view kEnvironmentPrefix = "TTL_SIDECAR_";

// The names of variables in `environment` (NAME=VALUE, ended by null) that begin with our
// prefix and are not in `known`, most likely mistyped, in the order of the alphabet. Not those
// of ttlctl, nor those that Kubernetes sets for services whose names begin like ours.
std::vector<std::string> UnknownVariables(const char* const* environment,
                                          const std::set<std::string>& known);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_ENVIRONMENT_H_
