#ifndef TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_EXPORT_HOLDS_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_EXPORT_HOLDS_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "export", which prints holds with all their keys as a file for "holds apply".
void AddExportHoldsCommand(CLI::App& holds, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_HOLDS_EXPORT_HOLDS_COMMAND_H_
