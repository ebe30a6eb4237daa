#ifndef TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_LIMIT_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_LIMIT_COMMANDS_H_

#include "CLI/CLI.hpp"
#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds `limits show`, `limits set` and `store confirm`.
void AddLimitCommands(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_LIMIT_COMMANDS_H_
