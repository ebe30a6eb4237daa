#ifndef TTL_CLIENT_TTLCTL_TEXT_CONTAINER_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_CONTAINER_TEXT_H_

#include <string>
#include <vector>

#include "ttl/v1/container.pb.h"

namespace ttl {

// Human-readable text of containers. Pure functions.

// "off", "-1 (only items with a ttl of their own)" or "3600 s (1h)".
std::string DefaultTtlText(const v1::Container& container);

// "consistent", "lazy" or "none".
std::string IndexingModeText(v1::IndexingMode mode);

// "ready", "building, 40 % (1,000 items)" or "none".
std::string IndexProgressText(const v1::IndexProgress& progress);

// One container, a line per field.
std::string ContainerText(const v1::Container& container);

// A table, one line per container.
std::string ContainersText(const std::vector<v1::Container>& containers);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_CONTAINER_TEXT_H_
