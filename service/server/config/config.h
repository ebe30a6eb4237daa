#ifndef TTL_SERVICE_SERVER_CONFIG_CONFIG_H_
#define TTL_SERVICE_SERVER_CONFIG_CONFIG_H_

#include <spdlog/common.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/server/config/listen_options.h"
#include "service/transport/tls/tls_files.h"

namespace ttl {

// When the tracked items are rebuilt from the store.
enum class RebuildMode {
  kNever,
  kIfNeeded,  // the data directory is new, damaged, restored or repaired
  kAlways,
};

// The settings of ttl-sidecar. The defaults are those of the flags.
struct ServerConfig {
  // Addresses to listen on. ParseCommandLine requires at least one.
  std::vector<ListenSocket> listen_sockets = {{.path = "/run/ttl-sidecar/sidecar.sock"}};
  mode_t socket_mode = 0660;  // for sockets without their own mode; the same for the group
  std::string socket_group;   // name or number; empty: the group of the process
  std::vector<ListenTcp> listen_tcp;
  std::string health_tcp;  // HOST:PORT, for the health service alone; empty: none

  // TLS for TCP; clients must present certificates if there is a CA file.
  TlsFiles tls;
  bool insecure_tcp = false;
  bool reflection = false;  // serve gRPC server reflection
  std::string access_file;  // roles of client certificates; empty: they have none

  // gRPC address of the primary store; empty: nothing is deleted.
  std::string store;
  TlsFiles store_tls;                 // without a CA file: no TLS
  std::string store_tls_server_name;  // in the store's certificate; empty: that of the address
  bool insecure_store = false;

  std::string data_dir = "/var/lib/ttl-sidecar";
  std::string containers_file;  // empty: none
  RebuildMode rebuild_from_store = RebuildMode::kNever;
  int64_t scan_items_per_second = 50000;  // maximum rate of reading the store's items

  // Maximum deletes per second; absent: no limit, 0: no deletes.
  std::optional<double> max_deletes_per_second;            // over all containers
  std::optional<double> container_max_deletes_per_second;  // per container without its own limit

  int64_t delete_batch_items = 500;
  absl::Duration delete_deadline = absl::Seconds(5);
  absl::Duration policy_grace = absl::Seconds(60);
  absl::Duration max_store_clock_skew = absl::Seconds(60);
  int64_t max_calls_under_way = 4;  // of DeleteItems

  // Suspend deletes after this many consecutive NOT_FOUND answers; 0: never.
  int64_t not_found_burst_items = 1000;

  // Pause all deletes, durably, before anything can be deleted.
  bool start_paused = false;

  int64_t cache_bytes = int64_t{64} << 20;
  int64_t block_cache_bytes = int64_t{32} << 20;
  int64_t max_queued_writes = 16384;
  int64_t max_queued_bytes = int64_t{64} << 20;
  int64_t report_floor_bytes = int64_t{256} << 20;
  int64_t outcome_floor_bytes = int64_t{64} << 20;

  int64_t max_message_bytes = int64_t{4} << 20;
  int64_t max_connections = 4096;
  int64_t max_streams_per_connection = 1024;
  int64_t rpc_memory_bytes = int64_t{256} << 20;
  int64_t call_threads = 0;  // of the data path; 0: half of the cores, 1 to 8

  std::string metrics_listen;  // HOST:PORT or unix:PATH; empty: no metrics
  int64_t metrics_containers = 50;

  std::string status_page;  // HOST:PORT or unix:PATH; empty: no page

  absl::Duration stop_deadline = absl::Seconds(10);
  spdlog::level::level_enum log_level = spdlog::level::info;
  bool logs_json = false;  // else logfmt

  // Work on the data directory and exit instead of serving; at most one is set.
  bool check_data_dir = false;
  std::string restore_file;   // create the data directory from this backup
  std::string repair_source;  // create it from what can be read of this damaged directory
};

// A parsed command line.
struct CommandLine {
  ServerConfig config;
  // If not empty, print this and exit (--help, --version).
  std::string text;
  // Environment variables TTL_SIDECAR_... that set no flag; the caller warns of them.
  std::vector<std::string> unknown_variables;
};

// Reads flags, environment variables (TTL_SIDECAR_<FLAG_IN_CAPS>; an empty one
// counts as absent), the file named by --config, and the defaults: the first
// that has a value wins. INVALID_ARGUMENT names the option, the value and what
// is allowed; unknown flags and unknown keys in the file are errors too.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

// Whether a page at this address, a legal value of --status-page, is served over TLS, with `tls`
// and to the identities of `access_file`: neither a Unix socket nor this machine's loopback.
bool IsPageOverTls(const std::string& status_page);

// Version of this program, as in "0.1.0".
std::string Version();

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_CONFIG_H_
