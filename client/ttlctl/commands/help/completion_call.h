#ifndef TTL_CLIENT_TTLCTL_COMMANDS_HELP_COMPLETION_CALL_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_HELP_COMPLETION_CALL_H_

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/ttlctl/commands/exit_code.h"
#include "client/ttlctl/text/terminal.h"

namespace ttl {

// Runs ttlctl, as RunTtlctl does.
using TtlctlRun =
    std::function<ExitCode(const std::vector<std::string>& arguments, const Terminal& terminal)>;

// Prints what may stand in place of the last of `words`, as completion scripts expect it (see
// completion_script.h). Ids of containers are listed by `run`, with the options for the server that
// are among the words, within a second; a server that does not answer has none.
void PrintCompletions(const CLI::App& app, const std::vector<std::string>& words,
                      const Terminal& terminal, const TtlctlRun& run);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_HELP_COMPLETION_CALL_H_
