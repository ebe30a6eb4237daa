#ifndef TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_CONTAINER_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_CONTAINER_COMMANDS_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "containers" with create, get, list, set and delete.
void AddContainerCommands(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_CONTAINER_COMMANDS_H_
