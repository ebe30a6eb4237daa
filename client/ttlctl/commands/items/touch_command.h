#ifndef TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_TOUCH_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_TOUCH_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds the command "touch" to `items`. If it is the one given, it is stored in `chosen`.
void AddTouchCommand(CLI::App& items, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_TOUCH_COMMAND_H_
