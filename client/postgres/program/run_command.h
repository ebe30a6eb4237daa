#ifndef TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_

#include <string>

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Adds `run` to `app`. Parsing sets `chosen` if the command line has it; `chosen` must outlive the
// parsing, and `config_path`, the configuration file, must outlive the command. The command waits
// until the database is up and everything is installed. It ends on SIGTERM or SIGINT, or if the
// database does not match the configuration. On SIGHUP it applies the changed file, if that can be
// followed; it applies a changed password without a signal.
void AddRunCommand(CLI::App& app, const std::string& config_path, const WallClock& clock,
                   Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_
