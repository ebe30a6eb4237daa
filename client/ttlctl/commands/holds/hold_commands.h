#ifndef TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_HOLD_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_HOLD_COMMANDS_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "holds" with place, release, list, keys, export, apply and accept.
void AddHoldCommands(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_HOLD_COMMANDS_H_
