#ifndef TTL_CLIENT_TTLCTL_INPUT_CONTAINER_CHANGE_H_
#define TTL_CLIENT_TTLCTL_INPUT_CONTAINER_CHANGE_H_

#include <string>
#include <vector>

#include "service/yaml/container_entries.h"
#include "ttl/v1/container.pb.h"

// Compares entries of a containers file with containers. Pure functions.
namespace ttl {

// A field in which two containers differ.
struct FieldChange {
  std::string path;  // as in an update mask
  std::string from;
  std::string to;
};

// The container that the entry describes, as for CreateContainer.
v1::Container ContainerOf(const ContainerEntry& entry);

// The changes from `present` to `wanted` in the fields that an owner can set. An absent field
// equals its default.
std::vector<FieldChange> Differences(const v1::Container& present, const v1::Container& wanted);

// "default_ttl off -> 3600, delete_policy.delay 0s -> 600s"
std::string ChangesText(const std::vector<FieldChange>& changes);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_CONTAINER_CHANGE_H_
