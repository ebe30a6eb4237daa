#ifndef TTL_CLIENT_POSTGRES_PROGRAM_MIGRATE_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_MIGRATE_COMMAND_H_

#include <CLI/CLI.hpp>

#include "client/postgres/program/command.h"

namespace ttl::postgres {

// Adds `migrate` to `app`: runs a command, or the SQL of a file, while what install made for tables
// is away, and puts it back whatever becomes of the command. If it is on the command line, `chosen`
// becomes it; `chosen` must outlive the parsing.
void AddMigrateCommand(CLI::App& app, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_MIGRATE_COMMAND_H_
