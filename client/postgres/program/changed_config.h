#ifndef TTL_CLIENT_POSTGRES_PROGRAM_CHANGED_CONFIG_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_CHANGED_CONFIG_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"

// What the configuration file says that a running ttl-postgres was started with.
namespace ttl::postgres {

// All of it. An error of ReadConfig(), or FAILED_PRECONDITION if a field has changed that takes
// a restart: listen, schema, slot, publication.
absl::StatusOr<Config> ReadChangedConfig(const std::string& path, const Config& current);

// `current` with the password that the file has by now. Absent: it has the same, no configuration,
// or another database too, which nobody may have meant yet.
std::optional<Config> ReadChangedPassword(const std::string& path, const Config& current);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_CHANGED_CONFIG_H_
