#ifndef TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_HEALTH_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_HEALTH_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "health", for probes: the exit code tells whether the server is serving.
void AddHealthCommand(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_HEALTH_COMMAND_H_
