#ifndef TTL_CLIENT_POSTGRES_PROGRAM_INSTALL_COMMANDS_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_INSTALL_COMMANDS_H_

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Adds `install` and `uninstall` to `app`. Parsing sets `chosen` if the command line has one of
// them; `chosen` must outlive the parsing.
void AddInstallCommands(CLI::App& app, const WallClock& clock, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_INSTALL_COMMANDS_H_
