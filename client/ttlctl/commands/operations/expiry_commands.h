#ifndef TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_EXPIRY_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_EXPIRY_COMMANDS_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "status", "pause", "resume", and "clock" with show and accept.
void AddExpiryCommands(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_EXPIRY_COMMANDS_H_
