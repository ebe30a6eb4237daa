#include "client/postgres/program/run_command.h"

#include <grpc/grpc.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/postgres/program/changed_config.h"
#include "client/postgres/program/daemon.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/program/followed_tables.h"
#include "client/postgres/store/store_server.h"
#include "service/process/daemon_signals.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

using Request = DaemonSignals::Request;

constexpr absl::Duration kRetryInterval = absl::Seconds(1);
constexpr absl::Duration kChangePoll = absl::Milliseconds(500);
constexpr absl::Duration kPasswordPoll = absl::Seconds(5);
constexpr absl::Duration kStopDeadline = absl::Seconds(20);
// What keeps a changed configuration from being followed for so long is not in passing.
constexpr absl::Duration kTakeUpDeadline = absl::Seconds(10);

// What is there for a start.
struct Found {
  CatalogReport report;
  FollowedTables followed;  // none where the server is not fit
};

// `running` as in CheckDatabase().
absl::StatusOr<Found> Prepare(const Config& config, const Config* running) {
  absl::StatusOr<DatabaseCheck> database = CheckDatabase(config, running);
  if (!database.ok()) return database.status();
  if (const std::string& why = database->report.unreachable; !why.empty()) {
    return absl::UnavailableError(why);
  }
  Found found{std::move(database->report), {}};
  if (!found.report.is_server_fit) return found;
  auto followed = FindFollowedTables(*database->connection, config, found.report);
  if (!followed.ok()) return followed.status();
  found.followed = *std::move(followed);
  return found;
}

// Why a daemon cannot begin by it; empty: it can.
std::string Obstacle(const absl::StatusOr<Found>& found) {
  if (!found.ok()) return std::string(found.status().message());
  return found->report.is_server_fit ? "" : absl::StrJoin(found->report.problems, "; ");
}

// Whether somebody may put it right meanwhile: the database is not there yet, since in a pod
// this starts before it, or nothing is installed in it yet.
bool IsWorthWaiting(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
}

void LogUnchanged() {
  spdlog::info("SIGHUP ignored: reason=\"the configuration has not changed\"");
}

void LogNotTakenUp(absl::string_view reason) {
  spdlog::error("configuration not taken up: reason=\"{}\"", absl::CHexEscape(reason));
}

// What a daemon runs by, and the file that it is from.
struct Source {
  const std::string path;
  Config config;
  std::optional<Config> former = std::nullopt;  // went, where `config` may not
};

void GoBack(Source& source, absl::string_view reason) {
  LogNotTakenUp(reason);
  source.config = *std::exchange(source.former, std::nullopt);
}

// What the file says now, if it says something else.
std::optional<Config> Reread(const Source& source) {
  absl::StatusOr<Config> config = ReadChangedConfig(source.path, source.config);
  if (!config.ok()) {
    LogNotTakenUp(config.status().message());
  } else if (*config == source.config) {
    LogUnchanged();
  } else {
    return *std::move(config);
  }
  return std::nullopt;
}

// Whether to stop, after a wait for one request. Nothing runs: whatever the file says is taken.
bool AwaitStop(Source& source, DaemonSignals& signals, absl::Duration timeout) {
  const std::optional<Request> request = signals.Next(timeout);
  std::optional<Config> changed = request == Request::kReload
                                      ? Reread(source)
                                      : ReadChangedPassword(source.path, source.config);
  if (changed.has_value()) source.config = *std::move(changed);
  return request == Request::kStop;
}

// CANCELLED: told to stop. At the start it waits only for what may come by itself, and afterwards
// for whatever is in the way, if need be by the former configuration.
absl::StatusOr<Found> AwaitDatabase(Source& source, DaemonSignals& signals, bool is_start) {
  const absl::Time deadline = absl::Now() + kTakeUpDeadline;
  std::string said;
  for (;;) {
    absl::StatusOr<Found> found = Prepare(source.config, nullptr);
    const std::string why = Obstacle(found);
    if (why.empty() || (is_start && !IsWorthWaiting(found.status()))) return found;
    if (source.former.has_value() && absl::Now() >= deadline) {
      GoBack(source, why);
      continue;
    }
    if (why != said) {
      spdlog::warn("waiting for the database: reason=\"{}\"", absl::CHexEscape(why));
    }
    said = why;
    if (AwaitStop(source, signals, kRetryInterval)) return absl::CancelledError("stopped");
  }
}

void LogReport(const CatalogReport& report) {
  for (const std::string& problem : report.problems) {
    spdlog::error("problem: detail=\"{}\"", absl::CHexEscape(problem));
  }
  for (const std::string& warning : report.warnings) {
    spdlog::warn("warning: detail=\"{}\"", absl::CHexEscape(warning));
  }
}

ExitCode NotStarted(const absl::Status& status) {
  spdlog::error("not started: reason=\"{}\"", absl::CHexEscape(status.message()));
  return ExitCodeFor(status);
}

// Why a daemon has ended.
struct End {
  bool is_stop = false;
  std::optional<Config> changed;  // what the next one is to go by
};

// Until it is told to stop, or another configuration or other tables can be followed.
absl::StatusOr<End> FollowTables(const Source& source, FollowedTables followed, StoreServer& server,
                                 DaemonSignals& signals) {
  const absl::StatusOr<std::unique_ptr<Daemon>> daemon =
      Daemon::Start(source.config, std::move(followed), server);
  if (!daemon.ok()) return daemon.status();
  absl::Time next_look = absl::Now() + kPasswordPoll;
  std::string said;  // of the password that was looked at last
  while (!(*daemon)->has_changed()) {
    const std::optional<Request> request = signals.Next(kChangePoll);
    if (request == Request::kStop) return End{true, std::nullopt};
    std::optional<Config> changed;
    if (request == Request::kReload) {
      said.clear();
      changed = Reread(source);
    }
    if (!changed.has_value() && absl::Now() >= next_look) {
      changed = ReadChangedPassword(source.path, source.config);
      next_look = absl::Now() + kPasswordPoll;
      if (!changed.has_value()) said.clear();
    }
    if (!changed.has_value()) continue;
    const std::string why = Obstacle(Prepare(*changed, &source.config));
    if (why.empty()) {
      spdlog::info("configuration changed: it is taken up");
      return End{false, std::move(changed)};
    }
    if (why != said) LogNotTakenUp(why);
    said = why;
  }
  spdlog::warn("tables changed: all are looked at again");
  return End{};
}

ExitCode Serve(Source source, DaemonSignals& signals) {
  absl::StatusOr<std::unique_ptr<StoreServer>> server = StoreServer::Start(source.config.listen);
  if (!server.ok()) return NotStarted(server.status());
  spdlog::info("listening: address=\"{}\"", absl::CHexEscape((*server)->address()));
  for (bool is_start = true;; is_start = false) {
    absl::StatusOr<Found> found = AwaitDatabase(source, signals, is_start);
    if (absl::IsCancelled(found.status())) return ExitCode::kOk;
    if (!found.ok()) return NotStarted(found.status());
    if (is_start) LogReport(found->report);
    if (!found->report.is_server_fit) return ExitCode::kRefused;
    absl::StatusOr<End> end = FollowTables(source, std::move(found->followed), **server, signals);
    if (!end.ok() && !source.former.has_value()) return NotStarted(end.status());
    if (!end.ok()) {
      GoBack(source, end.status().message());
      continue;
    }
    if (end->is_stop) break;
    source.former.reset();
    if (end->changed.has_value()) {
      source.former = std::exchange(source.config, *std::move(end->changed));
    }
  }
  return ExitCode::kOk;
}

ExitCode Run(const std::string& config_path, const Config& config) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on a false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  DaemonSignals signals(kStopDeadline);
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits ten
  // seconds for a poller.
  grpc_init();
  return Serve({config_path, config}, signals);
}

}  // namespace

void AddRunCommand(CLI::App& app, const std::string& config_path, Command& chosen) {
  app.add_subcommand("run",
                     "Capture changes, delete expired rows and mirror policies until stopped")
      ->callback([&config_path, &chosen] {
        chosen = [&config_path](const Config& config, Output) { return Run(config_path, config); };
      });
}

}  // namespace ttl::postgres
