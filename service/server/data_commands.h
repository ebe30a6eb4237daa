#ifndef TTL_SERVICE_SERVER_DATA_COMMANDS_H_
#define TTL_SERVICE_SERVER_DATA_COMMANDS_H_

#include "absl/status/status.h"
#include "service/server/config/config.h"

namespace ttl {

// The commands of ttl-sidecar that work on a data directory instead of serving. No other process
// may be using the directory. Errors are those of storage.

// Opens the database and verifies it: OK if it is sound. NOT_FOUND if there is no directory.
absl::Status CheckDataDir(const ServerConfig& config);

// Create the data directory, which must be empty or missing, from the backup or the damaged
// directory that `config` names, and log the result.
absl::Status RestoreDataDir(const ServerConfig& config);
absl::Status RepairDataDir(const ServerConfig& config);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_DATA_COMMANDS_H_
