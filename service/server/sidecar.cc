#include "service/server/sidecar.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/server/config/access_file.h"
#include "service/server/config/containers_file.h"
#include "service/server/config/data_dir.h"
#include "service/server/config/server_settings.h"

namespace ttl {
namespace {

absl::StatusOr<std::vector<ContainerEntry>> ReadEntries(const ServerConfig& config) {
  if (config.containers_file.empty()) return std::vector<ContainerEntry>();
  return ReadContainersFile(config.containers_file);
}

}  // namespace

Sidecar::Sidecar(const ServerConfig& config) : config_(config), metrics_(Version()) {}

absl::StatusOr<std::unique_ptr<Sidecar>> Sidecar::Start(const ServerConfig& config) {
  TTL_ASSIGN_OR_RETURN(Files files, ReadFiles(config));
  TTL_ASSIGN_OR_RETURN(const bool made_data_dir, MakeDataDir(config.data_dir));
  const size_t applied_entries = files.entries.size();
  std::unique_ptr<Sidecar> sidecar(new Sidecar(config));
  const absl::Status started = sidecar->StartStages(std::move(files));
  if (started.ok()) return sidecar;
  const bool remove = made_data_dir && !sidecar->HasContainersBeside(applied_entries);
  sidecar.reset();
  std::error_code error;
  if (remove) std::filesystem::remove_all(config.data_dir, error);
  return started;
}

absl::StatusOr<Sidecar::Files> Sidecar::ReadFiles(const ServerConfig& config) {
  Files files;
  TTL_ASSIGN_OR_RETURN(files.entries, ReadEntries(config));
  TTL_ASSIGN_OR_RETURN(files.server_options, ToGrpcServerOptions(config));
  TTL_ASSIGN_OR_RETURN(files.page_tls, MakePageTls(config));
  if (!config.access_file.empty()) {
    TTL_ASSIGN_OR_RETURN(files.identities, ReadAccessFile(config.access_file));
  }
  return files;
}

absl::Status Sidecar::StartStages(Files files) {
  TTL_ASSIGN_OR_RETURN(data_, Data::Open(config_, signals_));
  // Before the changes of the start, which may take long: metrics show that it is starting.
  TTL_RETURN_IF_ERROR(StartMetrics());
  TTL_ASSIGN_OR_RETURN(deleting_,
                       Deleting::Start(config_, std::move(files.entries), *data_, signals_));
  TTL_ASSIGN_OR_RETURN(serving_, Serving::Start({.config = config_,
                                                 .signals = signals_,
                                                 .data = *data_,
                                                 .deleting = *deleting_,
                                                 .metrics = metrics_},
                                                files.server_options, std::move(files.identities),
                                                std::move(files.page_tls)));
  return absl::OkStatus();
}

absl::Status Sidecar::StartMetrics() {
  if (config_.metrics_listen.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(metrics_server_,
                       MetricsServer::Start("--metrics-listen", config_.metrics_listen,
                                            [this] { return metrics_.Text(); }));
  const std::string port =
      metrics_server_->port() == 0 ? "" : absl::StrCat(" port=", metrics_server_->port());
  spdlog::info("metrics: address={}{}", Quoted(config_.metrics_listen, 256), port);
  return absl::OkStatus();
}

// Containers that are not in the file were created by calls, which one address may have answered
// before another failed to listen. Without a container nothing can be tracked.
bool Sidecar::HasContainersBeside(size_t applied_entries) {
  return data_ != nullptr && data_->storage().containers().All().size() > applied_entries;
}

absl::Status Sidecar::Apply(const std::vector<ContainerEntry>& entries) {
  return ApplyContainers(entries, data_->storage(), data_->clock().Read().now,
                         config_.policy_grace);
}

void Sidecar::ReloadContainers() {
  if (config_.containers_file.empty()) {
    spdlog::info("SIGHUP ignored: reason=\"--containers is not given\"");
    return;
  }
  const std::string file = Quoted(config_.containers_file, 4096);
  const auto entries = ReadEntries(config_);
  const absl::Status applied = entries.ok() ? Apply(*entries) : entries.status();
  if (applied.ok()) {
    spdlog::info("containers file reloaded: file={} containers={}", file, entries->size());
  } else {
    spdlog::error("containers file not reloaded: file={} reason={}", file,
                  Quoted(TextOf(applied), 4096));
  }
}

}  // namespace ttl
