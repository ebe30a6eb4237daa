#ifndef TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_COMMAND_H_

#include "CLI/CLI.hpp"
#include "client/postgres/program/command.h"

namespace ttl::postgres {

// `preview`: counts in the tables what a default_ttl would hide and delete. Changes nothing, and
// needs neither the sidecar nor anything installed.
void AddPreviewCommand(CLI::App& app, Command& chosen);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_COMMAND_H_
