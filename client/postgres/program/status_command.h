#ifndef TTL_CLIENT_POSTGRES_PROGRAM_STATUS_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_STATUS_COMMAND_H_

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Adds `status` to `app`. Parsing sets `chosen` if the command line has it; `chosen` must outlive
// the parsing.
void AddStatusCommand(CLI::App& app, const WallClock& clock, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_STATUS_COMMAND_H_
