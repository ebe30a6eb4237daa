#include "client/postgres/program/run_command.h"

#include <grpc/grpc.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
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
constexpr absl::Duration kStopDeadline = absl::Seconds(20);

// What is there for a start.
struct Found {
  CatalogReport report;
  FollowedTables followed;  // none where the server is not fit
};

absl::StatusOr<Found> Prepare(const Config& config) {
  absl::StatusOr<DatabaseCheck> database = CheckDatabase(config);
  if (!database.ok()) return database.status();
  Found found{std::move(database->report), {}};
  if (!found.report.is_server_fit) return found;
  auto followed = FindFollowedTables(*database->connection, config, found.report);
  if (!followed.ok()) return followed.status();
  found.followed = *std::move(followed);
  return found;
}

// Whether somebody may put it right meanwhile: the database is not there yet, since in a pod
// this starts before it, or nothing is installed in it yet.
bool IsWorthWaiting(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
}

void LogNothingToReload() {
  spdlog::info("SIGHUP ignored: reason=\"the configuration is read at the start only\"");
}

// Whether to stop, after a wait for one request.
bool AwaitStop(DaemonSignals& signals, absl::Duration timeout) {
  const std::optional<Request> request = signals.Next(timeout);
  if (request == Request::kReload) LogNothingToReload();
  return request == Request::kStop;
}

// CANCELLED: told to stop.
absl::StatusOr<Found> AwaitDatabase(const Config& config, DaemonSignals& signals) {
  std::string said;
  for (;;) {
    absl::StatusOr<Found> found = Prepare(config);
    if (found.ok() || !IsWorthWaiting(found.status())) return found;
    const std::string why = absl::CHexEscape(found.status().message());
    if (why != said) spdlog::warn("waiting for the database: reason=\"{}\"", why);
    said = why;
    if (AwaitStop(signals, kRetryInterval)) return absl::CancelledError("stopped");
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

// Until other tables can be followed (true) or it is told to stop.
absl::StatusOr<bool> FollowTables(const Config& config, FollowedTables followed,
                                  StoreServer& server, DaemonSignals& signals) {
  const absl::StatusOr<std::unique_ptr<Daemon>> daemon =
      Daemon::Start(config, std::move(followed), server);
  if (!daemon.ok()) return daemon.status();
  while (!(*daemon)->has_changed()) {
    if (AwaitStop(signals, kChangePoll)) return false;
  }
  spdlog::warn("tables changed: all are looked at again");
  return true;
}

ExitCode Serve(const Config& config, DaemonSignals& signals) {
  absl::StatusOr<std::unique_ptr<StoreServer>> server = StoreServer::Start(config.listen);
  if (!server.ok()) return NotStarted(server.status());
  spdlog::info("listening: address=\"{}\"", absl::CHexEscape((*server)->address()));
  std::string said;
  for (bool is_start = true;; is_start = false) {
    absl::StatusOr<Found> found = AwaitDatabase(config, signals);
    if (absl::IsCancelled(found.status())) return ExitCode::kOk;
    if (!found.ok()) return NotStarted(found.status());
    if (is_start) LogReport(found->report);
    if (!found->report.is_server_fit) {
      if (is_start) return ExitCode::kRefused;
      const std::string why = absl::CHexEscape(absl::StrJoin(found->report.problems, "; "));
      if (why != said) spdlog::error("waiting for the database: reason=\"{}\"", why);
      said = why;
      if (AwaitStop(signals, kRetryInterval)) return ExitCode::kOk;
      continue;
    }
    said.clear();
    const absl::StatusOr<bool> has_changed =
        FollowTables(config, std::move(found->followed), **server, signals);
    if (!has_changed.ok()) return NotStarted(has_changed.status());
    if (!*has_changed) break;
  }
  return ExitCode::kOk;
}

ExitCode Run(const Config& config, Output /*output*/) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on a false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  DaemonSignals signals(kStopDeadline);
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits ten
  // seconds for a poller.
  grpc_init();
  return Serve(config, signals);
}

}  // namespace

void AddRunCommand(CLI::App& app, Command& chosen) {
  app.add_subcommand("run",
                     "Capture changes, delete expired rows and mirror policies until stopped")
      ->callback([&chosen] { chosen = Run; });
}

}  // namespace ttl::postgres
