#ifndef TTL_CLIENT_TTLCTL_COMMANDS_FEED_SUBSCRIPTION_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_FEED_SUBSCRIPTION_COMMANDS_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "subscriptions" with create, list, get, delete and acknowledge.
void AddSubscriptionCommands(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_FEED_SUBSCRIPTION_COMMANDS_H_
