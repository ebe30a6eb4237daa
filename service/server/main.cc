#include <grpc/grpc.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/log/log.h"
#include "service/process/daemon_signals.h"
#include "service/process/thread_check.h"
#include "service/server/config/config.h"
#include "service/server/config/data_dir.h"
#include "service/server/config/server_settings.h"
#include "service/server/data_commands.h"
#include "service/server/sidecar.h"

namespace {

// Exit codes for errors at run time, and for wrong settings.
constexpr int kFailed = 1;
constexpr int kBadSettings = 2;

// Runs a command on the data directory instead of serving.
int Work(const ttl::ServerConfig& config, absl::Status (*work)(const ttl::ServerConfig&)) {
  const absl::Status status = work(config);
  if (!status.ok()) {
    std::fprintf(stderr, "ttl-sidecar: %s\n", ttl::TextOf(status).c_str());
    return kFailed;
  }
  std::puts("OK");
  return 0;
}

int Serve(const ttl::ServerConfig& config) {
  ttl::DaemonSignals signals(config.stop_deadline);
  // Never shut down: gRPC 1.51 sometimes waits ten seconds for a poller when its last object goes.
  // Must come after DaemonSignals, because it starts threads.
  grpc_init();
  spdlog::info("starting: version={} data_dir={} store={}", ttl::Version(),
               ttl::Quoted(config.data_dir, 4096), ttl::Quoted(config.store, 4096));
  absl::StatusOr<std::unique_ptr<ttl::Sidecar>> sidecar = ttl::Sidecar::Start(config);
  if (!sidecar.ok()) {
    const absl::Status& status = sidecar.status();
    spdlog::error("not started: reason={}", ttl::Quoted(status.message(), 4096));
    return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kBadSettings : kFailed;
  }
  while (signals.Next() == ttl::DaemonSignals::Request::kReload) (*sidecar)->ReloadContainers();
  sidecar->reset();
  spdlog::info("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Debian's abseil checks the lock order of every gRPC mutex and may abort on a
  // false alarm.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const absl::StatusOr<ttl::CommandLine> line = ttl::ParseCommandLine(argc, argv);
  if (!line.ok()) {
    std::fprintf(stderr, "ttl-sidecar: %s\n", std::string(line.status().message()).c_str());
    return kBadSettings;
  }
  if (!line->text.empty()) {
    std::fputs(line->text.c_str(), stdout);
    return 0;
  }
  if (const absl::Status threads = ttl::CheckThreads(ttl::ThreadsOf(line->config)); !threads.ok()) {
    std::fprintf(stderr, "ttl-sidecar: %s\n", std::string(threads.message()).c_str());
    return kFailed;
  }
  ttl::KeepNewFilesPrivate();
  const ttl::Log log(line->config.log_level);
  if (line->config.logs_json) ttl::Log::SetFormat(ttl::LogFormat::kJson);
  for (const std::string& name : line->unknown_variables) {
    spdlog::warn("unknown environment variable: name={}", ttl::Quoted(name, 256));
  }
  const ttl::ServerConfig& config = line->config;
  if (config.check_data_dir) return Work(config, ttl::CheckDataDir);
  if (!config.restore_file.empty()) return Work(config, ttl::RestoreDataDir);
  if (!config.repair_source.empty()) return Work(config, ttl::RepairDataDir);
  return Serve(config);
}
