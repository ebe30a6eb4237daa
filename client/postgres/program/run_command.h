#ifndef TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"

namespace ttl::postgres {

// Adds `run` to `app`. If it is on the command line, `chosen` becomes it; `chosen` must
// outlive the parsing. It waits until the database is there and everything is installed,
// and ends by SIGTERM or SIGINT, or if the database is not as the configuration says.
void AddRunCommand(CLI::App& app, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_RUN_COMMAND_H_
