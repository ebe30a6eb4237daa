#ifndef TTL_CLIENT_POSTGRES_CONFIG_CONFIG_H_
#define TTL_CLIENT_POSTGRES_CONFIG_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/config/table_config.h"

namespace ttl::postgres {

// The configuration file of ttl-postgres. client/postgres/README.md has an example.
struct Config {
  // libpq connection string or URI of the database; the usual PG... environment variables and
  // ~/.pgpass supply missing values.
  std::string database;
  // Connection string for the replication stream, which most poolers refuse; empty: `database`.
  std::string replication;
  // gRPC address of the sidecar: unix:/path/to/socket or host:port.
  std::string sidecar = "unix:/run/ttl-sidecar/sidecar.sock";
  // gRPC address at which the sidecar calls this program; must match --store of the sidecar.
  std::string listen = "unix:/run/ttl-sidecar/store.sock";
  // gRPC address of the health service alone, host:port, for probes; empty: none. `listen` serves
  // health too.
  std::string health_listen;
  // HTTP address of /metrics, host:port; empty: none.
  std::string metrics_listen;

  // Names of the objects installed in the database.
  std::string schema = "ttl";
  std::string slot = "ttl_sidecar";
  std::string publication = "ttl_sidecar";

  // Drop the slot when it retains more WAL than this, before the disk is full; the tables are then
  // scanned again. 0: never.
  int64_t max_slot_bytes = int64_t{16} << 30;

  // lock_timeout and statement_timeout of a delete.
  absl::Duration lock_timeout = absl::Milliseconds(100);
  absl::Duration statement_timeout = absl::Seconds(2);

  // Deletes pause while a trivial query takes longer than max_latency, or while more than
  // max_active_backends backends are active. 0 disables a limit.
  absl::Duration max_latency = absl::Milliseconds(50);
  int max_active_backends = 0;

  // At least one table. Names of containers, tables and views are unique.
  std::vector<TableConfig> tables;

  const std::string& replication_address() const {
    return replication.empty() ? database : replication;
  }

  friend bool operator==(const Config&, const Config&) = default;
};

// Parses the contents of a YAML file. INVALID_ARGUMENT lists every field that is unknown, missing
// or out of range, with its line.
absl::StatusOr<Config> ParseConfig(absl::string_view yaml);

// Parses a YAML file as ParseConfig() does. NOT_FOUND if the file cannot be read.
absl::StatusOr<Config> ReadConfig(const std::string& path);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CONFIG_CONFIG_H_
