#ifndef TTL_CLIENT_TTLCTL_COMMANDS_POLICY_OPTIONS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_POLICY_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "ttl/v1/container.pb.h"

namespace ttl {

// What the command line says of a brake. Its parts are changed one by one, although the
// API sets a brake as a whole.
struct BrakeEdit {
  std::vector<std::function<void(v1::PolicyBrake&)>> changes;

  // `brake` with the changes made; absent if no limit is left of it and none was given.
  std::optional<v1::PolicyBrake> Apply(v1::PolicyBrake brake) const;
};

// A container as far as the command line describes it, and the fields that it names; the
// brake is kept apart.
struct ContainerArguments {
  v1::Container container;
  std::vector<std::string> named_fields;
  BrakeEdit brake;
};

// Adds the options for everything that an owner can set. `arguments` must outlive the
// parsing.
void AddPolicyOptions(CLI::App& command, ContainerArguments& arguments);

// The options, for messages.
std::string PolicyOptionNames();

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_POLICY_OPTIONS_H_
