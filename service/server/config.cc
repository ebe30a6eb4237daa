#include "service/server/config.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "service/core/status_macros.h"

namespace ttl {
namespace {

constexpr int64_t kMaxMib = int64_t{1} << 20;  // one TiB
constexpr int64_t kMaxSeconds = 86400;

std::string EnvironmentName(absl::string_view flag) {
  std::string name = absl::StrReplaceAll(flag.substr(2), {{"-", "_"}});
  absl::AsciiStrToUpper(&name);
  return absl::StrCat("TTL_SIDECAR_", name);
}

// Refuses the value of a flag; CLI11 carries the exception to the parse call.
[[noreturn]] void Refuse(absl::string_view flag, absl::string_view value, absl::string_view right) {
  throw CLI::ValidationError(
      absl::StrCat(flag, " (", EnvironmentName(flag), ")"),
      absl::StrCat("\"", absl::Utf8SafeCEscape(value), "\" is not allowed; give ", right));
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

// Declares flags of the kinds we have. Each reads its own text, since CLI11's
// conversions take more than they should ("010", " 5", "0x10").
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  // A flag with text for a value, given to `read` as it stands.
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

  // A whole number of `unit` from `min` to `max`, kept in steps of `scale`.
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

  // A flag that is given or not; with a value, true or false.
  void Switch(const std::string& flag, bool& target, const std::string& help) {
    app_.add_flag(flag, target, help)
        ->envname(EnvironmentName(flag))
        ->check(CLI::Validator(
            [flag](const std::string& value) {
              if (value != "true" && value != "false") Refuse(flag, value, "true or false");
              return std::string();
            },
            ""));
  }

  // A rate per second; 0 is legal and means none at all.
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

mode_t ParseMode(const std::string& flag, const std::string& value) {
  mode_t mode = 0;
  bool ok = value.size() == 3 || (value.size() == 4 && value[0] == '0');
  for (const char c : value) {
    ok = ok && c >= '0' && c <= '7';
    mode = mode * 8 + static_cast<mode_t>(c - '0');
  }
  if (!ok) Refuse(flag, value, "an octal file mode of three digits, such as 0660 or 600");
  return mode;
}

std::string CheckHostPort(const std::string& flag, const std::string& value) {
  const size_t colon = value.rfind(':');
  const std::string host = value.substr(0, colon);
  int64_t port = -1;
  const bool is_bracketed = absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
  if (colon == std::string::npos || host.empty() ||
      (absl::StrContains(host, ":") && !is_bracketed) ||
      !ParseWhole(value.substr(colon + 1), port) || port < 0 || port > 65535) {
    Refuse(
        flag, value,
        "HOST:PORT, such as 127.0.0.1:7070, 0.0.0.0:7070 or [::1]:7070; port 0 takes a free one");
  }
  return value;
}

std::string CheckStoreAddress(const std::string& flag, const std::string& value) {
  if (absl::StartsWith(value, "http:") || absl::StartsWith(value, "https:") ||
      absl::StartsWith(value, "/") || !absl::StrContains(value, ":")) {
    Refuse(flag, value,
           "a gRPC address, such as unix:/run/store/store.sock, localhost:7071 or "
           "dns:///store.example:7071");
  }
  return value;
}

spdlog::level::level_enum ParseLogLevel(const std::string& flag, const std::string& value) {
  if (value == "trace") return spdlog::level::trace;
  if (value == "debug") return spdlog::level::debug;
  if (value == "info") return spdlog::level::info;
  if (value == "warning") return spdlog::level::warn;
  if (value == "error") return spdlog::level::err;
  Refuse(flag, value, "trace, debug, info, warning or error");
}

void DeclareListening(Flags& flags, ServerConfig& config) {
  flags.Text("--listen-socket", "PATH", config.listen_socket,
             "Unix socket to listen on; its directory must exist. Empty: none");
  flags.Add(
      "--socket-mode", "OCTAL",
      [&config](const std::string& value) {
        config.socket_mode = ParseMode("--socket-mode", value);
      },
      "0660", "File mode of the socket; whoever may write to it may use every method");
  flags.Text("--socket-group", "GROUP", config.socket_group,
             "Group of the socket, by name or number. Without it: the group of the process");
  flags.Add(
      "--listen-tcp", "HOST:PORT",
      [&config](const std::string& value) {
        config.listen_tcp = CheckHostPort("--listen-tcp", value);
      },
      "",
      "TCP address to listen on as well, without encryption or authentication. Port 0 takes a free "
      "one and logs it. Without it: none");
}

void DeclareDeleting(Flags& flags, ServerConfig& config) {
  flags.Add(
      "--store", "ADDRESS",
      [&config](const std::string& value) { config.store = CheckStoreAddress("--store", value); },
      "", "gRPC address of the primary store. Without it nothing is deleted");
  flags.Rate("--max-deletes-per-second", config.max_deletes_per_second,
             "Most deletes sent per second, all containers together. 0: no deletes. Without it: no "
             "limit. What ttlctl limits set has set since counts instead");
  flags.Rate("--container-max-deletes-per-second", config.container_max_deletes_per_second,
             "Most deletes sent per second for each container that does not set its own limit. 0: "
             "no deletes. Without it: no limit");
  flags.Count("--delete-batch-items", "items", config.delete_batch_items, 10000,
              "Most items in one DeleteItems call");
  flags.Count("--max-calls-under-way", "calls", config.max_calls_under_way, 64,
              "Most DeleteItems calls under way at the same time; a container has one at most");
  flags.Seconds(
      "--delete-deadline-seconds", config.delete_deadline, 300,
      "Deadline of one DeleteItems call, in seconds. Changes that loosen a policy, pauses "
      "and removals wait at most this long for deletes on their way");
  flags.Seconds(
      "--policy-grace-seconds", config.policy_grace, 30 * kMaxSeconds,
      "How long after a policy got stricter deletes still spare what the old policy would "
      "have kept, in seconds");
  flags.Seconds("--max-store-clock-skew-seconds", config.max_store_clock_skew, kMaxSeconds,
                "Deletes wait while our clock and the store's are farther apart than this, in "
                "seconds");
  flags.Whole("--not-found-burst-items", "items", config.not_found_burst_items, 0, 1000000000, 1,
              "So many answers of NOT_FOUND in a row, over all containers, put the store in doubt: "
              "deletes wait until ttlctl store confirm. 0: never");
  flags.Switch("--start-paused", config.start_paused,
               "Pause all deletes at the start, unless they are paused already; after a restore, "
               "for example. They go on after ttlctl resume --all");
}

void DeclareStorage(Flags& flags, ServerConfig& config) {
  flags.Text("--data-dir", "DIR", config.data_dir,
             "Directory of the database; created if missing, its parent must exist");
  flags.Text("--containers", "FILE", config.containers_file,
             "YAML file of containers to create or change at start. Without it: none");
  flags.Mib("--cache-mib", config.cache_bytes, kMaxMib,
            "Memory for tracked items kept at hand, in MiB");
  flags.Mib("--block-cache-mib", config.block_cache_bytes, kMaxMib,
            "Memory for blocks of the database, in MiB");
  flags.Count("--max-queued-writes", "changes", config.max_queued_writes, 10000000,
              "Changes waiting to be committed beyond which reports are refused with "
              "RESOURCE_EXHAUSTED");
  flags.Mib("--max-queued-mib", config.max_queued_bytes, kMaxMib,
            "The same bound in MiB of waiting changes");
  flags.Mib("--report-floor-mib", config.report_floor_bytes, kMaxMib,
            "Free space of the volume below which reports are refused, in MiB");
  flags.Mib("--outcome-floor-mib", config.outcome_floor_bytes, kMaxMib,
            "Free space of the volume below which deletes and changes of policy stop as well, in "
            "MiB; not above --report-floor-mib");
}

void DeclareProcess(Flags& flags, ServerConfig& config) {
  flags.Mib("--max-message-mib", config.max_message_bytes, 1024,
            "Largest gRPC message accepted, in MiB");
  flags.Count("--max-streams-per-connection", "calls", config.max_streams_per_connection, 100000,
              "Most calls under way on one connection");
  flags.Mib("--rpc-memory-mib", config.rpc_memory_bytes, kMaxMib,
            "Memory that gRPC may use for calls under way, in MiB");
  flags.Seconds("--stop-deadline-seconds", config.stop_deadline, 3600,
                "Longest time from SIGTERM to the end of the process, in seconds");
  flags.Add(
      "--log-level", "LEVEL",
      [&config](const std::string& value) {
        config.log_level = ParseLogLevel("--log-level", value);
      },
      "info", "Least important lines to log: trace, debug, info, warning or error");
}

// Gives the options that have no value yet those of the file. CLI11 would let the
// file win over the environment, and so does not get to read it.
void ApplyFile(CLI::App& app, const std::string& path) {
  std::ifstream file(path);
  if (!file) throw CLI::ValidationError("--config", absl::StrCat("cannot read \"", path, "\""));
  CLI::ConfigTOML format;
  format.arrayBounds('\x01', '\x01');  // no lists: a comma is a comma
  std::set<std::string> seen;
  for (const CLI::ConfigItem& item : format.from_config(file)) {
    const std::string key = item.fullname();
    CLI::Option* option = app.get_option_no_throw("--" + key);
    if (option == nullptr || !option->get_configurable()) {
      throw CLI::ValidationError(
          path,
          absl::StrCat("unknown key \"", key, "\"; keys are flags without the dashes in front"));
    }
    if (!seen.insert(key).second || item.inputs.size() != 1) {
      throw CLI::ValidationError(path, absl::StrCat("key \"", key, "\" is given more than once"));
    }
    if (option->count() > 0) continue;
    option->add_result(item.inputs[0]);
    option->run_callback();
  }
}

// What no single value can tell.
absl::Status ValidateTogether(const ServerConfig& config) {
  if (config.listen_socket.empty() && config.listen_tcp.empty()) {
    return absl::InvalidArgumentError(
        "--listen-socket is empty and --listen-tcp is not given; give one of them");
  }
  if (config.data_dir.empty()) {
    return absl::InvalidArgumentError("--data-dir: \"\" is not allowed; give a directory");
  }
  if (config.outcome_floor_bytes > config.report_floor_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--outcome-floor-mib: \"", config.outcome_floor_bytes >> 20,
        "\" is not allowed; give at most --report-floor-mib, ", config.report_floor_bytes >> 20));
  }
  // A change of policy may have to wait for a delete on its way.
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
            "File with lines of the form flag-without-dashes = value. Without it: none")
      ->configurable(false);
  DeclareListening(flags, line.config);
  DeclareDeleting(flags, line.config);
  DeclareStorage(flags, line.config);
  DeclareProcess(flags, line.config);
  app.add_flag("--check-data-dir", line.config.check_data_dir,
               "Check the database of --data-dir, which nothing may be using, and exit: 0 if it is "
               "sound, 1 if not")
      ->configurable(false);
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
    return absl::InvalidArgumentError(error.what());
  }
  TTL_RETURN_IF_ERROR(ValidateTogether(line.config));
  return line;
}

}  // namespace ttl
