#ifndef TTL_CLIENT_TTLCTL_COMMANDS_GLOBAL_OPTIONS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_GLOBAL_OPTIONS_H_

#include "CLI/CLI.hpp"
#include "client/ttlctl/commands/session.h"

namespace ttl {

// Adds the options that all commands have, except those of TLS. `options` must outlive the parsing.
void AddGlobalOptions(CLI::App& app, GlobalOptions& options);

// Adds -o to every command that can be run and is defined so far, so that the help of each names
// it.
void AddOutputOptions(CLI::App& app, GlobalOptions& options);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_GLOBAL_OPTIONS_H_
