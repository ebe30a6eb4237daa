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

// What the configuration file of ttl-postgres says. client/postgres/README.md shows one.
struct Config {
  // libpq connection string or URI of the database; what it leaves out comes from the
  // usual PG... environment variables and ~/.pgpass.
  std::string database;
  // The same for connections that read the replication stream, which most poolers refuse; empty:
  // that of `database`.
  std::string replication;
  // gRPC address of the sidecar: unix:/path/to/socket or host:port.
  std::string sidecar = "unix:/run/ttl-sidecar/sidecar.sock";
  // gRPC address at which the sidecar calls this program: what its --store says.
  std::string listen = "unix:/run/ttl-sidecar/store.sock";
  // HTTP address of /metrics, host:port; empty: none.
  std::string metrics_listen;

  // Names of what is installed in the database.
  std::string schema = "ttl";
  std::string slot = "ttl_sidecar";
  std::string publication = "ttl_sidecar";

  // Beyond so much WAL kept back for the slot it is dropped, before the disk is full; the
  // tables are then read again. 0: never.
  int64_t max_slot_bytes = int64_t{16} << 30;

  // Longest wait for a lock, and longest statement, of a delete.
  absl::Duration lock_timeout = absl::Milliseconds(100);
  absl::Duration statement_timeout = absl::Seconds(2);

  // Deletes yield while a trivial query takes longer than this, or while more
  // backends than this are at work. 0: no such limit.
  absl::Duration max_latency = absl::Milliseconds(50);
  int max_active_backends = 0;

  // At least one; containers, tables and views are distinct.
  std::vector<TableConfig> tables;

  const std::string& replication_address() const {
    return replication.empty() ? database : replication;
  }

  friend bool operator==(const Config&, const Config&) = default;
};

// Reads a YAML file's contents. INVALID_ARGUMENT names every field that is unknown, missing
// or out of its range, with its line.
absl::StatusOr<Config> ParseConfig(absl::string_view yaml);

// The same for a file; NOT_FOUND if it cannot be read.
absl::StatusOr<Config> ReadConfig(const std::string& path);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CONFIG_CONFIG_H_
