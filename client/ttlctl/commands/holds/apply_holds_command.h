#ifndef TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_APPLY_HOLDS_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_APPLY_HOLDS_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "apply", which places the holds of a file of "holds export" again, and accepts the
// containers that the file is complete for.
void AddApplyHoldsCommand(CLI::App& holds, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_APPLY_HOLDS_COMMAND_H_
