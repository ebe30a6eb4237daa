#ifndef TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_EXPORT_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_EXPORT_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "export", which prints containers as a file for "apply".
void AddExportCommand(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_EXPORT_COMMAND_H_
