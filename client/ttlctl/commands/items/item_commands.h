#ifndef TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_ITEM_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_ITEM_COMMANDS_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "items" with track, untrack, check, explain and list.
void AddItemCommands(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_ITEM_COMMANDS_H_
