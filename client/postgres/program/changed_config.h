#ifndef TTL_CLIENT_POSTGRES_PROGRAM_CHANGED_CONFIG_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_CHANGED_CONFIG_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"

// Rereads the configuration file of a running ttl-postgres.
namespace ttl::postgres {

// Reads the whole configuration. An error of ReadConfig(), or FAILED_PRECONDITION if a field has
// changed that requires a restart: listen, schema, slot, publication.
absl::StatusOr<Config> ReadChangedConfig(const std::string& path, const Config& current);

// Returns `current` with the passwords of the file. Absent if they are unchanged, if the file is
// not a valid configuration, or if it also names another database: that change may be unfinished,
// so it waits for ReadChangedConfig().
std::optional<Config> ReadChangedPassword(const std::string& path, const Config& current);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_CHANGED_CONFIG_H_
