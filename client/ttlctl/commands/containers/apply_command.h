#ifndef TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_APPLY_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_APPLY_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "apply", which creates and changes containers as a containers file describes them. The whole
// file is read, and the server validates every change, before the first change is made.
void AddApplyCommand(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_APPLY_COMMAND_H_
