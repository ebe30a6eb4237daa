#ifndef TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_FEED_OPTIONS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_FEED_OPTIONS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "client/ttlctl/commands/containers/policy_options.h"

namespace ttl {

// Adds the options for the feed of a container. `arguments` must outlive the parsing.
void AddFeedOptions(CLI::App& command, ContainerArguments& arguments);

// The names of the options, for messages.
std::string FeedOptionNames();

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_CONTAINERS_FEED_OPTIONS_H_
