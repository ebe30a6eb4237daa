#ifndef TTL_CLIENT_POSTGRES_PROGRAM_STATUS_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_STATUS_COMMAND_H_

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"

namespace ttl::postgres {

// Adds `status` to `app`: it sets `chosen` if it is on the command line.
void AddStatusCommand(CLI::App& app, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_STATUS_COMMAND_H_
