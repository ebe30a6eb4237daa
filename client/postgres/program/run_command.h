#ifndef TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_

#include <string>

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"

namespace ttl::postgres {

// Adds `run` to `app`. If it is on the command line, `chosen` becomes it; `chosen` must
// outlive the parsing, and `config_path`, the file of the configuration, the command. It waits
// until the database is there and everything is installed, and ends by SIGTERM or SIGINT, or if
// the database is not as the configuration says. By SIGHUP it uses the changed file, if that
// can be followed; a changed password by itself.
void AddRunCommand(CLI::App& app, const std::string& config_path, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_
