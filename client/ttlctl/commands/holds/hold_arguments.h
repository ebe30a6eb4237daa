#ifndef TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_HOLD_ARGUMENTS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_HOLD_ARGUMENTS_H_

#include <string>

#include "CLI/CLI.hpp"

namespace ttl {

// The arguments of commands on one hold.
struct HoldArguments {
  std::string container;
  std::string hold_id;
};

// Adds the positional arguments CONTAINER and HOLD. `arguments` must outlive the parsing.
void AddHoldName(CLI::App& command, HoldArguments& arguments);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_HOLD_ARGUMENTS_H_
