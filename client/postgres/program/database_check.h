#ifndef TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"
#include "client/postgres/program/command.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// A database, and what holding the configuration against it found.
struct DatabaseCheck {
  std::unique_ptr<Connection> connection;
  CatalogReport report;
};

// Connects and checks. `running` is what a ttl-postgres that follows the database goes by; null:
// none of this process does. An error means that the database could not be asked.
absl::StatusOr<DatabaseCheck> CheckDatabase(const Config& config, const Config* running = nullptr);

// Prints every problem and every warning, one a line.
void PrintReport(const CatalogReport& report, Output output);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_
