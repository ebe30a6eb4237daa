#ifndef TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_PLACE_HOLD_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_PLACE_HOLD_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "place", which places a hold, adds keys to it, or changes its reason and end.
void AddPlaceHoldCommand(CLI::App& holds, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_PLACE_HOLD_COMMAND_H_
