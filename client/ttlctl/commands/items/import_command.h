#ifndef TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_IMPORT_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_IMPORT_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds "import". A file is validated to its end before anything is sent; standard input, which can
// be read only once, is sent batch by batch while it is read.
void AddImportCommand(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_ITEMS_IMPORT_COMMAND_H_
