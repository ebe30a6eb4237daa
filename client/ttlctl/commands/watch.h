#ifndef TTL_CLIENT_TTLCTL_COMMANDS_WATCH_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_WATCH_H_

#include <functional>
#include <optional>

#include "CLI/CLI.hpp"
#include "absl/time/time.h"
#include "client/ttlctl/commands/session.h"

namespace ttl {

// Adds --watch to a command that shows state. `interval` is set if it is given; it must outlive the
// parsing.
void AddWatchOption(CLI::App& command, std::optional<absl::Duration>& interval);

// Calls `show` with a session that has the client of `session`, again after each `interval`, and
// prints its output: at a terminal in place of the one before, unless it is for programs.
//
// At a terminal the output is cut to its rows.
//
// Ends with the code of the first call that fails, except that unreachability and
// RESOURCE_EXHAUSTED after a first success do not end it. Also ends if the output cannot be
// written. An interrupt (SIGINT) ends the process as it does by default.
ExitCode Watch(Session& session, absl::Duration interval,
               const std::function<ExitCode(Session&)>& show);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_WATCH_H_
