#ifndef TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_COMMAND_H_

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Adds `preview` to `app`: it counts the rows that a default_ttl would hide and delete. It changes
// nothing, and needs neither the sidecar nor an installation. Parsing sets `chosen` if the command
// line has it; `chosen` must outlive the parsing.
void AddPreviewCommand(CLI::App& app, const WallClock& clock, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_COMMAND_H_
