#ifndef TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_POLICY_OPTIONS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_POLICY_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "ttl/v1/container.pb.h"

namespace ttl {

// The changes to a brake on the command line. Its fields are changed one by one, although the API
// sets a brake as a whole.
struct BrakeEdit {
  std::vector<std::function<void(v1::PolicyBrake&)>> changes;

  // Returns `brake` with the changes applied; absent if it has no limit left and none was given.
  std::optional<v1::PolicyBrake> Apply(v1::PolicyBrake brake) const;
};

// The changes to windows on the command line, one by one like those of a brake.
struct WindowsEdit {
  std::vector<std::function<void(v1::DeleteWindows&)>> changes;
  bool removes_all = false;

  bool IsEmpty() const { return changes.empty() && !removes_all; }
  // Returns `windows` with the changes applied; absent if they are all removed.
  std::optional<v1::DeleteWindows> Apply(v1::DeleteWindows windows) const;
};

// The fields of a container that the command line sets, and their names; brake and windows are
// separate.
struct ContainerArguments {
  v1::Container container;
  std::vector<std::string> named_fields;
  BrakeEdit brake;
  WindowsEdit windows;
};

// Adds the options for all fields that an owner can set, except those of the feed. `arguments` must
// outlive the parsing.
void AddPolicyOptions(CLI::App& command, ContainerArguments& arguments);

// The names of the options, for messages.
std::string PolicyOptionNames();

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_POLICY_OPTIONS_H_
