#include "client/postgres/program/run_command.h"

#include <grpc/grpc.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "client/postgres/program/changed_config.h"
#include "client/postgres/program/daemon.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/program/followed_tables.h"
#include "client/postgres/store/store_server.h"
#include "service/base/status_macros.h"
#include "service/process/daemon_signals.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

using Request = DaemonSignals::Request;

constexpr absl::Duration kRetryInterval = absl::Seconds(1);
constexpr absl::Duration kCheckPoll = absl::Milliseconds(50);
constexpr absl::Duration kChangePoll = absl::Milliseconds(500);
constexpr absl::Duration kPasswordPoll = absl::Seconds(5);
constexpr absl::Duration kStopDeadline = absl::Seconds(20);
// An obstacle to a changed configuration that lasts this long is considered permanent.
constexpr absl::Duration kChangeDeadline = absl::Seconds(10);

// The result of Prepare().
struct Found {
  CatalogReport report;
  FollowedTables followed;  // empty if the server is not fit
};

absl::StatusOr<Found> Prepare(const Config& config, absl::Time now, const CheckOptions& options) {
  TTL_ASSIGN_OR_RETURN(DatabaseCheck database, CheckDatabase(config, now, options));
  if (const std::string& why = database.report.unreachable; !why.empty()) {
    return absl::UnavailableError(why);
  }
  Found found{std::move(database.report), {}};
  if (!found.report.is_server_fit) return found;
  TTL_ASSIGN_OR_RETURN(found.followed,
                       FindFollowedTables(*database.connection, config, found.report));
  return found;
}

// Why a daemon cannot start; empty: it can.
std::string Obstacle(const absl::StatusOr<Found>& found) {
  if (!found.ok()) return std::string(found.status().message());
  return found->report.is_server_fit ? "" : absl::StrJoin(found->report.problems, "; ");
}

// The configuration of the tables that need not be checked again.
Config WithoutLeftOut(Config config, const CatalogReport& report) {
  std::erase_if(config.tables, [&](const TableConfig& table) {
    return report.left_out.contains(table.container);
  });
  return config;
}

// Whether the error may pass: the database is not up yet, because this process starts before it in
// a pod, or nothing is installed in it yet.
bool IsWorthWaiting(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
}

void LogUnchanged() {
  spdlog::info("SIGHUP ignored: reason=\"the configuration has not changed\"");
}

void LogRefused(absl::string_view reason) {
  spdlog::error("changed configuration refused: reason=\"{}\"", absl::CHexEscape(reason));
}

// The configuration of a daemon, the file that it was read from, and the daemon's clock.
struct Source {
  const std::string path;
  const WallClock clock;
  Config config;
  std::optional<Config> former = std::nullopt;   // the last one that worked
  std::optional<Config> checked = std::nullopt;  // CheckOptions::checked
  bool is_reload_due = false;                    // SIGHUP arrived during a check
};

// Waits for a request to stop or to reread Source::path; absent: neither came in time.
std::optional<Request> NextRequest(Source& source, DaemonSignals& signals, absl::Duration timeout) {
  const bool is_due = std::exchange(source.is_reload_due, false);
  const std::optional<Request> request = signals.Next(is_due ? absl::ZeroDuration() : timeout);
  return is_due && !request.has_value() ? Request::kReload : request;
}

// Runs Prepare() on its own thread, because it may wait for servers. CANCELLED: a stop was
// requested meanwhile.
absl::StatusOr<Found> PrepareUnlessStopped(Source& source, const Config& config,
                                           const Config* running, DaemonSignals& signals) {
  ConnectionBreaker breaker;
  const CheckOptions options{running, source.checked.has_value() ? &*source.checked : nullptr,
                             &breaker};
  std::future<absl::StatusOr<Found>> ending =
      std::async(std::launch::async, [&] { return Prepare(config, source.clock(), options); });
  bool is_stop = false;
  bool is_reload_due = false;
  while (ending.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    const std::optional<Request> request = signals.Next(kCheckPoll);
    is_reload_due = is_reload_due || request == Request::kReload;
    if (request != Request::kStop) continue;
    is_stop = true;
    breaker.Break();
    break;
  }
  absl::StatusOr<Found> found = ending.get();
  source.is_reload_due = source.is_reload_due || is_reload_due;
  if (is_stop) return absl::CancelledError("stopped");
  if (Obstacle(found).empty()) source.checked = WithoutLeftOut(config, found->report);
  return found;
}

void GoBack(Source& source, absl::string_view reason) {
  LogRefused(reason);
  source.config = *std::exchange(source.former, std::nullopt);
}

// Rereads the file. Absent if the configuration is refused or unchanged.
std::optional<Config> Reread(const Source& source) {
  absl::StatusOr<Config> config = ReadChangedConfig(source.path, source.config);
  if (!config.ok()) {
    LogRefused(config.status().message());
  } else if (*config == source.config) {
    LogUnchanged();
  } else {
    return *std::move(config);
  }
  return std::nullopt;
}

// Waits for one request and returns whether to stop. Adopts a changed configuration on a reload,
// and a changed password at any time. Neither is checked against the database first, because no
// daemon runs.
bool AwaitStop(Source& source, DaemonSignals& signals, absl::Duration timeout) {
  const std::optional<Request> request = NextRequest(source, signals, timeout);
  std::optional<Config> changed = request == Request::kReload
                                      ? Reread(source)
                                      : ReadChangedPassword(source.path, source.config);
  if (changed.has_value()) source.config = *std::move(changed);
  return request == Request::kStop;
}

// Waits until a daemon can start. CANCELLED: a stop was requested. At the start it waits only for
// obstacles that may pass; later it waits for any, and returns to the former configuration if the
// changed one cannot be used.
absl::StatusOr<Found> AwaitDatabase(Source& source, DaemonSignals& signals, bool is_start,
                                    StoreServer& server) {
  const absl::Time deadline = source.clock() + kChangeDeadline;
  std::string said;
  for (;;) {
    absl::StatusOr<Found> found = PrepareUnlessStopped(source, source.config, nullptr, signals);
    if (absl::IsCancelled(found.status())) return found;
    const std::string why = Obstacle(found);
    if (why.empty() || (is_start && !IsWorthWaiting(found.status()))) return found;
    if (source.former.has_value() && source.clock() >= deadline) {
      GoBack(source, why);
      continue;
    }
    server.SetProblem(absl::StrCat("waiting for the database: ", why));
    if (why != said) {
      spdlog::warn("waiting for the database: reason=\"{}\"", absl::CHexEscape(why));
    }
    said = why;
    if (AwaitStop(source, signals, kRetryInterval)) return absl::CancelledError("stopped");
  }
}

void LogArchiveProblems(const CatalogReport& report) {
  for (const std::string& problem : report.archive_problems) {
    spdlog::error("expired rows cannot be moved: detail=\"{}\"", absl::CHexEscape(problem));
  }
}

void LogReport(const CatalogReport& report) {
  for (const std::string& problem : report.problems) {
    spdlog::error("problem: detail=\"{}\"", absl::CHexEscape(problem));
  }
  LogArchiveProblems(report);
  for (const std::string& warning : report.warnings) {
    spdlog::warn("warning: detail=\"{}\"", absl::CHexEscape(warning));
  }
}

ExitCode NotStarted(const absl::Status& status) {
  spdlog::error("not started: reason=\"{}\"", absl::CHexEscape(status.message()));
  return ExitCodeFor(status);
}

// Why a daemon ended.
struct End {
  bool is_stop = false;
  std::optional<Config> changed;  // the configuration of the next one
};

// Runs a daemon until a stop is requested, or until another configuration or other tables can be
// followed.
absl::StatusOr<End> FollowTables(Source& source, FollowedTables followed, StoreServer& server,
                                 DaemonSignals& signals) {
  TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Daemon> daemon,
                       Daemon::Start(source.config, std::move(followed), server, source.clock));
  absl::Time next_look = source.clock() + kPasswordPoll;
  std::string said;  // the last logged reason for refusing a configuration
  while (!daemon->has_changed()) {
    const std::optional<Request> request = NextRequest(source, signals, kChangePoll);
    if (request == Request::kStop) return End{true, std::nullopt};
    std::optional<Config> changed;
    if (request == Request::kReload) {
      said.clear();
      changed = Reread(source);
    }
    if (!changed.has_value() && source.clock() >= next_look) {
      changed = ReadChangedPassword(source.path, source.config);
      next_look = source.clock() + kPasswordPoll;
      if (!changed.has_value()) said.clear();
    }
    if (!changed.has_value()) continue;
    const auto found = PrepareUnlessStopped(source, *changed, &source.config, signals);
    if (absl::IsCancelled(found.status())) return End{true, std::nullopt};
    const std::string why = Obstacle(found);
    if (why.empty()) {
      spdlog::info("configuration changed: the new one is used now");
      LogArchiveProblems(found->report);
      return End{false, std::move(changed)};
    }
    if (why != said) LogRefused(why);
    said = why;
  }
  spdlog::warn("tables changed: all are looked at again");
  source.checked.reset();
  return End{};
}

ExitCode Serve(Source source, DaemonSignals& signals) {
  absl::StatusOr<std::unique_ptr<StoreServer>> server =
      StoreServer::Start(source.config.listen, source.clock, source.config.health_listen);
  if (!server.ok()) return NotStarted(server.status());
  spdlog::info("listening: address=\"{}\"", absl::CHexEscape((*server)->address()));
  if (!source.config.health_listen.empty()) {
    spdlog::info("listening: address=\"{}\" serves=health", (*server)->health_address());
  }
  for (bool is_start = true;; is_start = false) {
    absl::StatusOr<Found> found = AwaitDatabase(source, signals, is_start, **server);
    if (absl::IsCancelled(found.status())) return ExitCode::kOk;
    if (!found.ok()) return NotStarted(found.status());
    is_start ? LogReport(found->report) : LogArchiveProblems(found->report);
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

ExitCode Run(const std::string& config_path, const WallClock& clock, const Config& config) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on a false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  DaemonSignals signals(kStopDeadline);
  // Deliberately without grpc_shutdown(): gRPC 1.51 sometimes waits ten seconds for a poller when
  // its last object shuts it down.
  grpc_init();
  return Serve({config_path, clock, config}, signals);
}

}  // namespace

void AddRunCommand(CLI::App& app, const std::string& config_path, const WallClock& clock,
                   Command& chosen) {
  app.add_subcommand("run",
                     "Capture changes, delete expired rows and mirror policies until stopped")
      ->callback([&config_path, clock, &chosen] {
        chosen = [&config_path, clock](const Config& config, Output) {
          return Run(config_path, clock, config);
        };
      });
}

}  // namespace ttl::postgres
