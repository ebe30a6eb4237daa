#ifndef TTL_CLIENT_POSTGRES_PROGRAM_MIGRATE_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_MIGRATE_COMMAND_H_

#include <CLI/CLI.hpp>

#include "client/postgres/program/command.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Adds `migrate` to `app`: it removes the installed objects of tables, runs a command or the SQL of
// a file, and restores the objects however the command ends. Parsing sets `chosen` if the command
// line has it; `chosen` must outlive the parsing.
void AddMigrateCommand(CLI::App& app, const WallClock& clock, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_MIGRATE_COMMAND_H_
