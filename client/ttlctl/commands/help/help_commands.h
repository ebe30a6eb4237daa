#ifndef TTL_CLIENT_TTLCTL_COMMANDS_HELP_HELP_COMMANDS_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_HELP_HELP_COMMANDS_H_

#include <functional>
#include <optional>

#include "CLI/CLI.hpp"
#include "client/ttlctl/commands/exit_code.h"
#include "client/ttlctl/text/terminal.h"

namespace ttl {

// A command that needs no sidecar.
using OfflineCommand = std::function<ExitCode(const Terminal&)>;

// Adds "help" and "completion", and "man", which is hidden. If one of them is on the command line,
// `chosen` is set to it. They read the definition of `app` when they are run. `app` and `chosen`
// must outlive them.
void AddHelpCommands(CLI::App& app, OfflineCommand& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_HELP_HELP_COMMANDS_H_
