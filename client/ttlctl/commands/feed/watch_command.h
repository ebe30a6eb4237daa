#ifndef TTL_CLIENT_TTLCTL_COMMANDS_FEED_WATCH_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_FEED_WATCH_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "watch", which prints events until it is interrupted.
void AddWatchCommand(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_FEED_WATCH_COMMAND_H_
