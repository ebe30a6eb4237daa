#include "service/server/config/config.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "service/base/small_file.h"
#include "service/base/status_macros.h"
#include "service/server/config/environment.h"
#include "service/server/http/http_request.h"

namespace ttl {
namespace {

constexpr int64_t kMaxMib = int64_t{1} << 20;  // one TiB
constexpr int64_t kMaxSeconds = 86400;
constexpr int kMaxRepetitions = 64;

std::string EnvironmentName(absl::string_view flag) {
  std::string name = absl::StrReplaceAll(flag.substr(2), {{"-", "_"}});
  absl::AsciiStrToUpper(&name);
  return absl::StrCat(kEnvironmentPrefix, name);
}

std::string Refusal(absl::string_view value, absl::string_view right) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(value), "\" is not allowed; give ", right);
}

// Refuses the value of a flag; CLI11 carries the exception to the parse call.
[[noreturn]] void Refuse(absl::string_view flag, absl::string_view value, absl::string_view right) {
  throw CLI::ValidationError(absl::StrCat(flag, " (", EnvironmentName(flag), ")"),
                             Refusal(value, right));
}

// Only plain decimal digits with an optional minus: no blanks, no 0x, and no
// leading zeros, which some take for octal.
bool ParseWhole(absl::string_view text, int64_t& value) {
  absl::string_view digits = absl::StartsWith(text, "-") ? text.substr(1) : text;
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return false;
  for (const char c : digits) {
    if (!absl::ascii_isdigit(c)) return false;
  }
  return absl::SimpleAtoi(text, &value);
}

// Parses the value of a flag; refuses it if `parse` fails.
template <typename T>
T ReadValue(const std::string& flag, const std::string& value,
            absl::StatusOr<T> (*parse)(absl::string_view)) {
  absl::StatusOr<T> read = parse(value);
  if (!read.ok()) Refuse(flag, value, read.status().message());
  return *std::move(read);
}

// Declares flags by type. Values are parsed here, because CLI11's conversions accept too much
// ("010", " 5", "0x10").
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  // A flag whose unchanged text is passed to `read`.
  CLI::Option* Add(const std::string& flag, const std::string& type,
                   std::function<void(const std::string&)> read, const std::string& shown_default,
                   const std::string& help) {
    CLI::Option* option = app_.add_option(
        flag,
        [read = std::move(read)](const CLI::results_t& values) {
          read(values[0]);
          return true;
        },
        help);
    return option->type_name(type)->default_str(shown_default)->envname(EnvironmentName(flag));
  }

  CLI::Option* Text(const std::string& flag, const std::string& type, std::string& target,
                    const std::string& help) {
    return Add(
        flag, type, [&target](const std::string& value) { target = value; }, target, help);
  }

  // A flag that may be given several times. Its values replace those in `target`.
  template <typename T>
  void Repeated(const std::string& flag, const std::string& type, std::vector<T>& target,
                absl::StatusOr<T> (*parse)(absl::string_view), const std::string& shown_default,
                const std::string& help) {
    CLI::Option* option = app_.add_option(
        flag,
        [=, &target](const CLI::results_t& values) {
          target.clear();
          for (const std::string& value : values) target.push_back(ReadValue(flag, value, parse));
          return true;
        },
        help);
    option->type_name(type)->default_str(shown_default)->envname(EnvironmentName(flag));
    option->expected(1, kMaxRepetitions)->allow_extra_args(false);
  }

  // A whole number of `unit` from `min` to `max`, stored multiplied by `scale`.
  void Whole(const std::string& flag, const std::string& unit, int64_t& target, int64_t min,
             int64_t max, int64_t scale, const std::string& help) {
    const auto read = [=, &target](const std::string& value) {
      int64_t number = 0;
      if (!ParseWhole(value, number) || number < min || number > max) {
        Refuse(flag, value, absl::StrCat("a whole number of ", unit, " from ", min, " to ", max));
      }
      target = number * scale;
    };
    Add(flag, "N", read, absl::StrCat(target / scale), help);
  }

  void Count(const std::string& flag, const std::string& unit, int64_t& target, int64_t max,
             const std::string& help) {
    Whole(flag, unit, target, 1, max, 1, help);
  }

  void Mib(const std::string& flag, int64_t& target, int64_t max, const std::string& help) {
    Whole(flag, "MiB", target, 1, max, int64_t{1} << 20, help);
  }

  void Seconds(const std::string& flag, absl::Duration& target, int64_t max,
               const std::string& help) {
    const auto read = [=, &target](const std::string& value) {
      int64_t number = 0;
      if (!ParseWhole(value, number) || number < 1 || number > max) {
        Refuse(flag, value,
               absl::StrCat("a whole number of seconds, without a unit, from 1 to ", max));
      }
      target = absl::Seconds(number);
    };
    Add(flag, "N", read, absl::StrCat(absl::ToInt64Seconds(target)), help);
  }

  // A boolean flag, optionally with the value true or false.
  void Switch(const std::string& flag, bool& target, const std::string& help) {
    app_.add_flag(flag, target, help)
        ->envname(EnvironmentName(flag))
        ->check(CLI::Validator(
            [](const std::string& value) {
              const bool is_right = value == "true" || value == "false";
              return is_right ? std::string() : Refusal(value, "true or false");
            },
            ""));
  }

  // A rate per second; 0 is legal and means none.
  void Rate(const std::string& flag, std::optional<double>& target, const std::string& help) {
    const auto read = [=, &target](const std::string& value) {
      double rate = 0;
      const bool is_number = !value.empty() && !absl::ascii_isspace(value.front()) &&
                             !absl::ascii_isspace(value.back()) && absl::SimpleAtod(value, &rate);
      if (!is_number || !std::isfinite(rate) || rate < 0) {
        Refuse(flag, value,
               "a number from 0 (no deletes) on; without the option there is no limit");
      }
      target = rate;
    };
    Add(flag, "N", read, "", help);
  }

 private:
  CLI::App& app_;
};

std::string CheckStoreAddress(const std::string& flag, const std::string& value) {
  if (absl::StartsWith(value, "http:") || absl::StartsWith(value, "https:") ||
      absl::StartsWith(value, "/") || !absl::StrContains(value, ":") || value == "unix:") {
    Refuse(flag, value,
           "a gRPC address, such as unix:/run/store/store.sock, localhost:7071 or "
           "dns:///store.example:7071");
  }
  return value;
}

std::string ParseMetricsListen(const std::string& flag, const std::string& value) {
  if (absl::StartsWith(value, "unix:") && value != "unix:") return value;
  const absl::StatusOr<std::string> address = ParseHostPort(value);
  if (!address.ok()) Refuse(flag, value, "HOST:PORT, such as 127.0.0.1:9464, or unix:PATH");
  return *address;
}

std::string ParseStatusPage(const std::string& flag, const std::string& value) {
  if (absl::StartsWith(value, "unix:") && value != "unix:") return value;
  const absl::StatusOr<std::string> address = ParseHostPort(value);
  if (!address.ok()) Refuse(flag, value, "HOST:PORT, such as 127.0.0.1:9465, or unix:PATH");
  return *address;
}

spdlog::level::level_enum ParseLogLevel(const std::string& flag, const std::string& value) {
  if (value == "trace") return spdlog::level::trace;
  if (value == "debug") return spdlog::level::debug;
  if (value == "info") return spdlog::level::info;
  if (value == "warning") return spdlog::level::warn;
  if (value == "error") return spdlog::level::err;
  Refuse(flag, value, "trace, debug, info, warning or error");
}

bool IsJson(const std::string& flag, const std::string& value) {
  if (value == "json") return true;
  if (value == "logfmt") return false;
  Refuse(flag, value, "logfmt or json");
}

void DeclareListening(Flags& flags, ServerConfig& config) {
  flags.Repeated(
      "--listen-socket", "PATH[,OPTIONS]", config.listen_sockets, ParseListenSocket,
      config.listen_sockets[0].path,
      "Unix socket to listen on; its directory must exist. Empty: none. Options: mode=OCTAL and "
      "group=GROUP override --socket-mode and --socket-group; roles=ROLE+ROLE (store, reader, "
      "consumer, admin) limits what its clients may do; default: all roles. May be repeated");
  flags.Add(
      "--socket-mode", "OCTAL",
      [&config](const std::string& value) {
        config.socket_mode = ReadValue("--socket-mode", value, ParseMode);
      },
      "0660", "File mode of the Unix sockets; it decides who may connect");
  flags.Text("--socket-group", "GROUP", config.socket_group,
             "Group of the Unix sockets, by name or number; default: the group of the process");
  flags.Repeated("--listen-tcp", "HOST:PORT[,roles=ROLE+ROLE]", config.listen_tcp, ParseListenTcp,
                 "",
                 "TCP address to listen on. Port 0 picks a free port and logs it. roles=ROLE+ROLE "
                 "applies to every client; without it, a client has the roles that --access-file "
                 "grants to its certificate. May be repeated; default: none");
  flags.Add(
      "--health-tcp", "HOST:PORT",
      [&config](const std::string& value) {
        config.health_tcp = ReadValue("--health-tcp", value, ParseHostPort);
      },
      "",
      "TCP address that serves only grpc.health.v1, in plain text, for probes that have no "
      "certificate; default: none");
}

void DeclareSecurity(Flags& flags, ServerConfig& config) {
  flags.Text("--tls-cert-file", "FILE", config.tls.cert_file,
             "PEM file with the server certificate chain for TCP. Certificate and key files are "
             "reloaded when they change");
  flags.Text("--tls-key-file", "FILE", config.tls.key_file,
             "PEM file with the private key of --tls-cert-file");
  flags.Text("--tls-client-ca-file", "FILE", config.tls.ca_file,
             "PEM file with the CAs that sign client certificates; clients must then present one");
  flags.Switch(
      "--insecure-tcp", config.insecure_tcp,
      "Serve TCP in plain text, without authentication; each --listen-tcp must then set roles");
  flags.Text("--access-file", "FILE", config.access_file,
             "YAML file that grants roles to client certificates by URI, DNS name or common name; "
             "default: none");
  flags.Switch(
      "--reflection", config.reflection,
      "Serve gRPC server reflection, used by grpcurl and buf curl, to callers with any role");
  flags.Text(
      "--store-tls-ca-file", "FILE", config.store_tls.ca_file,
      "PEM file with the CAs that sign the store's certificate; connects to the store over TLS");
  flags.Text("--store-tls-cert-file", "FILE", config.store_tls.cert_file,
             "PEM file with the client certificate for the store; default: none");
  flags.Text("--store-tls-key-file", "FILE", config.store_tls.key_file,
             "PEM file with the private key of --store-tls-cert-file");
  flags.Text("--store-tls-server-name", "NAME", config.store_tls_server_name,
             "Name expected in the store's certificate; default: the host of --store");
  flags.Switch("--insecure-store", config.insecure_store,
               "Allow a plain-text connection to a store at a TCP address");
}

void DeclareDeleting(Flags& flags, ServerConfig& config) {
  flags.Add(
      "--store", "ADDRESS",
      [&config](const std::string& value) { config.store = CheckStoreAddress("--store", value); },
      "", "gRPC address of the primary store; default: none, and nothing is deleted");
  flags.Rate("--max-deletes-per-second", config.max_deletes_per_second,
             "Maximum deletes per second over all containers. 0: no deletes; default: no limit. "
             "ttlctl limits set overrides it");
  flags.Rate("--container-max-deletes-per-second", config.container_max_deletes_per_second,
             "Maximum deletes per second of each container that sets no limit of its own. 0: no "
             "deletes; default: no limit");
  flags.Count("--delete-batch-items", "items", config.delete_batch_items, 10000,
              "Maximum items per DeleteItems call");
  flags.Count("--max-calls-under-way", "calls", config.max_calls_under_way, 64,
              "Maximum concurrent DeleteItems calls; a container has at most one");
  flags.Seconds("--delete-deadline-seconds", config.delete_deadline, 300,
                "Deadline of a DeleteItems call, in seconds. Loosening a policy, pausing deletes "
                "and deleting a container wait at most this long for deletes in flight");
  flags.Seconds("--policy-grace-seconds", config.policy_grace, 30 * kMaxSeconds,
                "Grace after a policy is tightened, in seconds: items that the old policy would "
                "have kept are not deleted before it ends");
  flags.Seconds("--max-store-clock-skew-seconds", config.max_store_clock_skew, kMaxSeconds,
                "Maximum difference between the sidecar's clock and the store's, in seconds; "
                "deletes are suspended while it is larger");
  flags.Whole("--not-found-burst-items", "items", config.not_found_burst_items, 0, 1000000000, 1,
              "Suspend deletes after this many consecutive NOT_FOUND answers, over all containers, "
              "until ttlctl store confirm. 0: never");
  flags.Switch(
      "--start-paused", config.start_paused,
      "Pause all deletes at start, after a restore for example, until ttlctl resume --all");
}

RebuildMode ParseRebuildMode(const std::string& flag, const std::string& value) {
  if (value == "never") return RebuildMode::kNever;
  if (value == "if-needed") return RebuildMode::kIfNeeded;
  if (value == "always") return RebuildMode::kAlways;
  Refuse(flag, value, "never, if-needed or always");
}

void DeclareStorage(Flags& flags, ServerConfig& config) {
  flags.Text("--data-dir", "DIR", config.data_dir,
             "Directory of the database; created if missing. Its parent must exist");
  flags.Text("--containers", "FILE", config.containers_file,
             "YAML file of containers to create or change at start; default: none");
  flags.Add(
      "--rebuild-from-store", "MODE",
      [&config](const std::string& value) {
        config.rebuild_from_store = ParseRebuildMode("--rebuild-from-store", value);
      },
      "never",
      "When to rebuild the tracked items from the store, which must implement ScanItems: never, "
      "if-needed (the data directory is empty, damaged, restored or repaired, or an earlier "
      "rebuild did not finish) or always (at every start). The sidecar is not ready until the "
      "rebuild is done");
  flags.Count("--scan-items-per-second", "items", config.scan_items_per_second, 10000000,
              "Maximum items per second that a rebuild or reconciliation reads from the store");
  flags.Mib("--cache-mib", config.cache_bytes, kMaxMib,
            "Size of the cache of tracked items, in MiB");
  flags.Mib("--block-cache-mib", config.block_cache_bytes, kMaxMib,
            "Size of LevelDB's block cache, in MiB");
  flags.Count("--max-queued-writes", "changes", config.max_queued_writes, 10000000,
              "Maximum changes waiting for commit; further reports fail with RESOURCE_EXHAUSTED");
  flags.Mib("--max-queued-mib", config.max_queued_bytes, kMaxMib,
            "Maximum size of the changes waiting for commit, in MiB");
  flags.Mib("--report-floor-mib", config.report_floor_bytes, kMaxMib,
            "Minimum free space of the volume for accepting reports, in MiB");
  flags.Mib("--outcome-floor-mib", config.outcome_floor_bytes, kMaxMib,
            "Minimum free space of the volume for deletes and policy changes, in MiB; at most "
            "--report-floor-mib");
}

void DeclareMetrics(Flags& flags, ServerConfig& config) {
  flags.Add(
      "--metrics-listen", "HOST:PORT",
      [&config](const std::string& value) {
        config.metrics_listen = ParseMetricsListen("--metrics-listen", value);
      },
      "",
      "Address that serves Prometheus metrics: HOST:PORT for http://HOST:PORT/metrics, or "
      "unix:PATH. Neither encrypted nor authenticated: whoever reaches it can read container "
      "names. Port 0 picks a free port and logs it; default: none");
  flags.Whole(
      "--metrics-containers", "containers", config.metrics_containers, 0, 1000, 1,
      "Maximum containers with metrics of their own; the others are summed up as \"other\"");
  flags.Add(
      "--status-page", "ADDRESS",
      [&config](const std::string& value) {
        config.status_page = ParseStatusPage("--status-page", value);
      },
      "",
      "Address that serves a read-only status page for browsers: a port of this machine's "
      "loopback, such as 127.0.0.1:9465 for http://127.0.0.1:9465/, or unix:PATH. Not "
      "authenticated: whoever reaches it can read names and look up items. Any other HOST:PORT "
      "is served over TLS to client certificates with the role reader or admin, and needs "
      "--tls-client-ca-file and --access-file. Port 0 picks a free port and logs it; "
      "default: none");
}

void DeclareProcess(Flags& flags, ServerConfig& config) {
  flags.Mib("--max-message-mib", config.max_message_bytes, 1024,
            "Maximum size of a gRPC message, in MiB");
  flags.Count("--max-connections", "connections", config.max_connections, 1000000,
              "Maximum connections over all addresses, each of which has a share; further ones are "
              "closed at once");
  flags.Count("--max-streams-per-connection", "calls", config.max_streams_per_connection, 100000,
              "Maximum concurrent calls per connection");
  flags.Mib("--rpc-memory-mib", config.rpc_memory_bytes, kMaxMib, "Memory quota of gRPC, in MiB");
  flags.Whole(
      "--call-threads", "threads", config.call_threads, 0, 64, 1,
      "Threads that serve checks and reports. 0: half of the cores, at least 1 and at most 8");
  flags.Seconds("--stop-deadline-seconds", config.stop_deadline, 3600,
                "Maximum time from SIGTERM to exit, in seconds");
  flags.Add(
      "--log-level", "LEVEL",
      [&config](const std::string& value) {
        config.log_level = ParseLogLevel("--log-level", value);
      },
      "info", "Minimum level of log lines: trace, debug, info, warning or error");
  flags.Add(
      "--log-format", "FORMAT",
      [&config](const std::string& value) { config.logs_json = IsJson("--log-format", value); },
      "logfmt", "Format of log lines: logfmt or json, with the same fields");
}

bool MayBeRepeated(const CLI::Option& option) { return option.get_expected_max() > 1; }

// Commands that run instead of serving; not allowed in the file or the environment.
void DeclareRecovery(CLI::App& app, ServerConfig& config) {
  CLI::Option* check = app.add_flag("--check-data-dir", config.check_data_dir,
                                    "Check the database in --data-dir, which must not be in use, "
                                    "and exit: 0 if it is sound, 1 if not")
                           ->configurable(false);
  CLI::Option* restore =
      app.add_option(
             "--restore", config.restore_file,
             "Create the database in --data-dir, which must be empty or missing, from a backup "
             "(ttlctl backup), and exit. Deletes are paused until ttlctl resume --all")
          ->type_name("FILE")
          ->configurable(false)
          ->excludes(check);
  app.add_option("--repair", config.repair_source,
                 "Create the database in --data-dir, which must be empty or missing, from what can "
                 "be read of the damaged database in DIR, and exit. DIR is not changed. Deletes "
                 "are paused until ttlctl resume --all")
      ->type_name("DIR")
      ->configurable(false)
      ->excludes(check)
      ->excludes(restore);
}

// Sets the options that have no value yet from the file. CLI11 does not read it itself, because
// then the file would win over the environment.
void ApplyFile(CLI::App& app, const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) throw CLI::ValidationError("--config", std::string(text.status().message()));
  std::istringstream file(*text);
  CLI::ConfigTOML format;
  format.arrayBounds('\x01', '\x01');  // no lists: a comma is a comma
  std::set<CLI::Option*> from_file;
  for (const CLI::ConfigItem& item : format.from_config(file)) {
    if (!item.parents.empty()) {
      throw CLI::ValidationError(
          path, absl::StrCat("section \"", absl::Utf8SafeCEscape(item.parents.front()),
                             "\" is not allowed; give all keys without sections, as in "
                             "\"data-dir = DIR\""));
    }
    const std::string key = item.fullname();
    CLI::Option* option = app.get_option_no_throw("--" + key);
    if (option == nullptr || !option->get_configurable()) {
      throw CLI::ValidationError(
          path,
          absl::StrCat("unknown key \"", key, "\"; keys are flags without the dashes in front"));
    }
    const bool is_repeated = from_file.contains(option) || item.inputs.size() != 1;
    if (is_repeated && !MayBeRepeated(*option)) {
      throw CLI::ValidationError(path, absl::StrCat("key \"", key, "\" is given more than once"));
    }
    if (option->count() > 0 && !from_file.contains(option)) continue;
    from_file.insert(option);
    for (const std::string& input : item.inputs) option->add_result(input);
    option->run_callback();
  }
}

// Certificate and key must be given together.
absl::Status ValidatePair(const TlsFiles& files, absl::string_view prefix) {
  if (files.cert_file.empty() == files.key_file.empty()) return absl::OkStatus();
  const absl::string_view missing = files.key_file.empty() ? "key" : "cert";
  return absl::InvalidArgumentError(absl::StrCat(
      prefix, missing, "-file is not given; certificate and key go together, give both or none"));
}

absl::Status ValidateTcp(const ServerConfig& config, const ListenTcp& tcp) {
  if (config.tls.cert_file.empty() && !config.insecure_tcp) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen-tcp: \"", tcp.host_port,
                     "\" has no TLS; give --tls-cert-file and --tls-key-file, or --insecure-tcp to "
                     "serve it in plain text"));
  }
  if (config.insecure_tcp && tcp.roles.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen-tcp: \"", tcp.host_port,
                     "\" is in plain text, where callers have no certificates; say what all of "
                     "them may do, as in ",
                     tcp.host_port, ",roles=reader"));
  }
  return absl::OkStatus();
}

absl::Status ValidateListening(const ServerConfig& config) {
  if (config.listen_sockets.empty() && config.listen_tcp.empty()) {
    return absl::InvalidArgumentError(
        "--listen-socket is empty and --listen-tcp is not given; give one of them");
  }
  std::set<std::string> paths;
  for (const ListenSocket& socket : config.listen_sockets) {
    if (paths.insert(socket.path).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--listen-socket: \"", socket.path, "\" is given twice; give it once"));
  }
  for (const ListenTcp& tcp : config.listen_tcp) TTL_RETURN_IF_ERROR(ValidateTcp(config, tcp));
  return absl::OkStatus();
}

absl::Status ValidateStatusPage(const ServerConfig& config) {
  // An access file is given with the files of TLS only.
  if (!IsPageOverTls(config.status_page) || !config.access_file.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--status-page: \"", config.status_page,
      "\" is not of loopback, where clients need certificates with the role reader; give "
      "--tls-cert-file, --tls-key-file, --tls-client-ca-file and --access-file, or listen on "
      "127.0.0.1:PORT, which is reached from other machines by kubectl port-forward or ssh -L"));
}

absl::Status ValidateTls(const ServerConfig& config) {
  TTL_RETURN_IF_ERROR(ValidatePair(config.tls, "--tls-"));
  if (config.insecure_tcp && !config.tls.cert_file.empty()) {
    return absl::InvalidArgumentError(
        "--insecure-tcp and --tls-cert-file exclude each other; give only one of them");
  }
  if (!config.tls.ca_file.empty() && config.tls.cert_file.empty()) {
    return absl::InvalidArgumentError(
        "--tls-client-ca-file has no effect without TLS; give --tls-cert-file and --tls-key-file");
  }
  if (!config.access_file.empty() && config.tls.ca_file.empty()) {
    return absl::InvalidArgumentError(
        "--access-file has no effect without client certificates; give --tls-client-ca-file");
  }
  return absl::OkStatus();
}

absl::Status ValidateStore(const ServerConfig& config) {
  TTL_RETURN_IF_ERROR(ValidatePair(config.store_tls, "--store-tls-"));
  const bool has_tls = !config.store_tls.ca_file.empty();
  if (has_tls && config.insecure_store) {
    return absl::InvalidArgumentError(
        "--insecure-store and --store-tls-ca-file exclude each other; give only one of them");
  }
  if (!has_tls && !(config.store_tls.cert_file.empty() && config.store_tls_server_name.empty())) {
    return absl::InvalidArgumentError(
        "--store-tls-ca-file is not given, so the store is not called over TLS; give the file with "
        "the CAs that sign its certificate");
  }
  const bool is_local = config.store.empty() || absl::StartsWith(config.store, "unix:") ||
                        absl::StartsWith(config.store, "unix-abstract:");
  if (is_local || has_tls || config.insecure_store) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--store: \"", config.store,
                   "\" has no TLS; give --store-tls-ca-file, or --insecure-store to call it in "
                   "plain text"));
}

// Refuses the root directory, under whatever name.
absl::Status ValidateDataDir(const std::string& data_dir) {
  std::error_code error;
  if (!data_dir.empty() && !std::filesystem::equivalent(data_dir, "/", error)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--data-dir: \"", absl::Utf8SafeCEscape(data_dir),
                   "\" is not allowed; give a directory for the database alone"));
}

std::set<std::string> KnownVariables(const CLI::App& app) {
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.insert(option->get_envname());
  return names;
}

// Checks combinations of flags.
absl::Status ValidateTogether(const ServerConfig& config) {
  TTL_RETURN_IF_ERROR(ValidateTls(config));
  TTL_RETURN_IF_ERROR(ValidateStatusPage(config));
  TTL_RETURN_IF_ERROR(ValidateListening(config));
  TTL_RETURN_IF_ERROR(ValidateStore(config));
  TTL_RETURN_IF_ERROR(ValidateDataDir(config.data_dir));
  if (config.rebuild_from_store != RebuildMode::kNever && config.store.empty()) {
    return absl::InvalidArgumentError(
        "--rebuild-from-store: there is no store to rebuild from; give --store");
  }
  if (config.outcome_floor_bytes > config.report_floor_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--outcome-floor-mib: \"", config.outcome_floor_bytes >> 20,
        "\" is not allowed; give at most --report-floor-mib, ", config.report_floor_bytes >> 20));
  }
  // A policy change may have to wait for deletes in flight.
  constexpr absl::Duration kStopMargin = absl::Seconds(3);
  if (config.stop_deadline < config.delete_deadline + kStopMargin) {
    return absl::InvalidArgumentError(
        absl::StrCat("--stop-deadline-seconds: \"", absl::ToInt64Seconds(config.stop_deadline),
                     "\" is not allowed; give at least --delete-deadline-seconds + 3, ",
                     absl::ToInt64Seconds(config.delete_deadline + kStopMargin)));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsPageOverTls(const std::string& status_page) {
  return !status_page.empty() && !absl::StartsWith(status_page, "unix:") &&
         !IsLoopbackAuthority(status_page);
}

std::string Version() { return TTL_SIDECAR_VERSION; }

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("Gives a store without TTL the TTL of Azure Cosmos DB.", "ttl-sidecar");
  app.footer("Values are taken from flags, then environment variables, then the file.");
  app.set_version_flag("--version", "ttl-sidecar " TTL_SIDECAR_VERSION)->configurable(false);
  app.get_help_ptr()->configurable(false);
  std::string config_file;
  Flags flags(app);
  flags
      .Text("--config", "FILE", config_file,
            "TOML file of options, as flag-without-dashes = value; default: none")
      ->configurable(false);
  DeclareListening(flags, line.config);
  DeclareSecurity(flags, line.config);
  DeclareDeleting(flags, line.config);
  DeclareStorage(flags, line.config);
  DeclareMetrics(flags, line.config);
  DeclareProcess(flags, line.config);
  DeclareRecovery(app, line.config);
  try {
    app.parse(argc, argv);
    if (!config_file.empty()) ApplyFile(app, config_file);
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::CallForVersion& version) {
    line.text = absl::StrCat(version.what(), "\n");
    return line;
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining();
    return absl::InvalidArgumentError(absl::StrCat(
        unknown.empty() ? error.what() : absl::StrCat("\"", unknown.front(), "\" is not an option"),
        " (see ttl-sidecar --help)"));
  }
  std::erase_if(line.config.listen_sockets, [](const auto& socket) { return socket.path.empty(); });
  TTL_RETURN_IF_ERROR(ValidateTogether(line.config));
  line.unknown_variables = UnknownVariables(environ, KnownVariables(app));
  return line;
}

}  // namespace ttl
