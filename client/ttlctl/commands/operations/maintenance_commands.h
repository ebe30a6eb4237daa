#ifndef TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_MAINTENANCE_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_MAINTENANCE_COMMANDS_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "reconcile", "rebuild", "verify", "backup", and "data" with trust and cancel.
void AddMaintenanceCommands(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_MAINTENANCE_COMMANDS_H_
