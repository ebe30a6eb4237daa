#ifndef TTL_CLIENT_TTLCTL_INPUT_CONTAINER_CHANGE_H_
#define TTL_CLIENT_TTLCTL_INPUT_CONTAINER_CHANGE_H_

#include <string>
#include <vector>

#include "service/yaml/container_entries.h"
#include "ttl/v1/container.pb.h"

// From an entry of a containers file to what has to change. Pure functions.
namespace ttl {

// A field in which two containers differ.
struct FieldChange {
  std::string path;  // as in an update mask
  std::string from;
  std::string to;
};

// The container that the entry describes, as CreateContainer takes it.
v1::Container ContainerOf(const ContainerEntry& entry);

// What has to change for `present` to be as `wanted`, among the fields that an owner can
// set; an absent field and its default are the same.
std::vector<FieldChange> Differences(const v1::Container& present, const v1::Container& wanted);

// "default_ttl off -> 3600, delete_policy.delay 0s -> 600s"
std::string ChangesText(const std::vector<FieldChange>& changes);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_CONTAINER_CHANGE_H_
