#include "client/postgres/program/run_command.h"

#include <grpc/grpc.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "client/postgres/program/daemon.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/program/stop_signals.h"
#include "client/postgres/sql/installation.h"
#include "client/postgres/store/store_server.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kRetryInterval = absl::Seconds(1);

// What CheckDatabase() found, if everything is installed too, or there are problems.
absl::StatusOr<CatalogReport> Prepare(const Config& config) {
  absl::StatusOr<DatabaseCheck> database = CheckDatabase(config);
  if (!database.ok()) return database.status();
  CatalogReport& report = database->report;
  if (report.problems.empty()) {
    const absl::Status installed = CheckInstalled(*database->connection, config, report.tables);
    if (!installed.ok()) return installed;
  }
  return std::move(report);
}

// Whether somebody may put it right meanwhile: the database is not there yet, since in a pod
// this starts before it, or nothing is installed in it yet.
bool IsWorthWaiting(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
}

// CANCELLED: told to stop.
absl::StatusOr<CatalogReport> AwaitDatabase(const Config& config, StopSignals& signals) {
  std::string said;
  for (;;) {
    absl::StatusOr<CatalogReport> report = Prepare(config);
    if (report.ok() || !IsWorthWaiting(report.status())) return report;
    const std::string why(report.status().message());
    if (why != said) spdlog::warn("waiting: {}", why);
    said = why;
    if (signals.Await(kRetryInterval)) return absl::CancelledError("stopped");
  }
}

ExitCode Serve(const Config& config, StopSignals& signals, Output output) {
  absl::StatusOr<std::unique_ptr<StoreServer>> server = StoreServer::Start(config.listen);
  if (!server.ok()) return Fail(output, server.status());
  output.out << "ttl-postgres listens on " << (*server)->address() << std::endl;
  absl::StatusOr<CatalogReport> report = AwaitDatabase(config, signals);
  if (absl::IsCancelled(report.status())) return ExitCode::kOk;
  if (!report.ok()) return Fail(output, report.status());
  PrintReport(*report, output);
  if (!report->problems.empty()) return ExitCode::kRefused;
  const absl::StatusOr<std::unique_ptr<Daemon>> daemon =
      Daemon::Start(config, std::move(report->tables), *std::move(server));
  if (!daemon.ok()) return Fail(output, daemon.status());
  spdlog::info("stopping on signal {}", signals.Await());
  return ExitCode::kOk;
}

ExitCode Run(const Config& config, Output output) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on a false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  StopSignals signals;
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits ten
  // seconds for a poller.
  grpc_init();
  return Serve(config, signals, output);
}

}  // namespace

void AddRunCommand(CLI::App& app, Command& chosen) {
  app.add_subcommand("run", "Capture changes, delete what expires, mirror policies; until stopped")
      ->callback([&chosen] { chosen = Run; });
}

}  // namespace ttl::postgres
