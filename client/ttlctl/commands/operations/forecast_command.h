#ifndef TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_FORECAST_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_FORECAST_COMMAND_H_

#include "client/ttlctl/commands/command.h"

namespace ttl {

// Adds the command forecast. If it is the one on the command line, `chosen` becomes its call.
void AddForecastCommand(CLI::App& app, Command& chosen);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_OPERATIONS_FORECAST_COMMAND_H_
