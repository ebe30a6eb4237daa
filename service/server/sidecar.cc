#include "service/server/sidecar.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/background_loop.h"
#include "service/base/done.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/base/wake_signal.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/delete_limit.h"
#include "service/core/state/reconciliation_board.h"
#include "service/core/state/store_trust.h"
#include "service/core/state/sweep_board.h"
#include "service/core/state/usage_ledger.h"
#include "service/core/system_clock.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/store/reconciler.h"
#include "service/expiry/store/store_preview.h"
#include "service/expiry/sweep/previous_run.h"
#include "service/expiry/sweep/sweeper.h"
#include "service/rpc/checks/check_counters.h"
#include "service/rpc/services/container_service.h"
#include "service/rpc/services/expiry_service.h"
#include "service/rpc/services/item_calls.h"
#include "service/rpc/services/item_service.h"
#include "service/rpc/services/maintenance_service.h"
#include "service/rpc/services/method_roles.h"
#include "service/rpc/status/expiry_view.h"
#include "service/rpc/status/health.h"
#include "service/rpc/status/overdue_watch.h"
#include "service/server/clock_keeper.h"
#include "service/server/config/access_file.h"
#include "service/server/config/containers_file.h"
#include "service/server/config/data_dir.h"
#include "service/server/config/store_credentials.h"
#include "service/server/metrics/expiry_metrics.h"
#include "service/server/metrics/metrics_server.h"
#include "service/server/metrics/sidecar_metrics.h"
#include "service/server/readiness.h"
#include "service/server/rebuild.h"
#include "service/server/start_changes.h"
#include "service/server/sweep_health.h"
#include "service/storage/storage.h"
#include "service/storage/upkeep/recovery.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/connections/connection_limit.h"
#include "service/transport/grpc_server.h"
#include "service/transport/health_service.h"
#include "service/transport/reflection_service.h"
#include "service/transport/tls_server_credentials.h"

namespace ttl {
namespace {

constexpr absl::Duration kHousekeepingInterval = absl::Seconds(1);
constexpr absl::Duration kReadinessInterval = absl::Seconds(1);

// Time for idle connections and unread streams to close when the sidecar stops.
constexpr absl::Duration kMaxDrain = absl::Seconds(1);

void LogStorage(StorageOptions::LogLevel level, absl::string_view line) {
  const auto to_spdlog = [level] {
    switch (level) {
      case StorageOptions::LogLevel::kDebug:
        return spdlog::level::debug;
      case StorageOptions::LogLevel::kInfo:
        return spdlog::level::info;
      case StorageOptions::LogLevel::kWarning:
        return spdlog::level::warn;
      case StorageOptions::LogLevel::kError:
        return spdlog::level::err;
    }
    return spdlog::level::err;
  };
  spdlog::log(to_spdlog(), "storage: detail={}", Quoted(line, 1024));
}

StorageOptions ToStorageOptions(const ServerConfig& config, WakeSignal* due_signal) {
  StorageOptions options;
  options.directory = config.data_dir;
  options.record_cache_bytes = static_cast<size_t>(config.cache_bytes);
  options.block_cache_bytes = static_cast<size_t>(config.block_cache_bytes);
  options.max_queued_writes = static_cast<size_t>(config.max_queued_writes);
  options.max_queued_bytes = static_cast<size_t>(config.max_queued_bytes);
  options.report_floor_bytes = config.report_floor_bytes;
  options.outcome_floor_bytes = config.outcome_floor_bytes;
  options.due_signal = due_signal;
  options.log = LogStorage;
  return options;
}

SweeperOptions ToSweeperOptions(const ServerConfig& config) {
  return {.batch_items = config.delete_batch_items,
          .max_calls_under_way = config.max_calls_under_way,
          .delete_deadline = config.delete_deadline,
          .container_max_deletes_per_second = config.container_max_deletes_per_second,
          .max_store_clock_skew = config.max_store_clock_skew,
          .not_found_burst_items = config.not_found_burst_items};
}

// Adds the flag to an error about TLS files, which names the file only.
absl::Status AboutTls(absl::string_view flag, const absl::Status& error) {
  return absl::Status(error.code(), absl::StrCat("TLS of ", flag, ": ", error.message()));
}

absl::StatusOr<std::vector<ServerAddress>> ToServerAddresses(const ServerConfig& config) {
  std::vector<ServerAddress> addresses;
  for (const ListenSocket& socket : config.listen_sockets) {
    addresses.push_back({.socket = {.path = socket.path,
                                    .mode = socket.mode.value_or(config.socket_mode),
                                    .group = socket.group.value_or(config.socket_group)},
                         .roles = socket.roles});
  }
  for (const ListenTcp& tcp : config.listen_tcp) {
    ServerAddress address = {.tcp = tcp.host_port, .roles = tcp.roles};
    if (!config.insecure_tcp) {
      auto credentials = TlsServerCredentials::Make(config.tls);
      if (!credentials.ok()) return AboutTls("--listen-tcp", credentials.status());
      address.credentials = *std::move(credentials);
      address.has_client_certificates = !config.tls.ca_file.empty();
    }
    addresses.push_back(std::move(address));
  }
  if (!config.health_tcp.empty()) {
    addresses.push_back({.tcp = config.health_tcp, .health_only = true});
  }
  return addresses;
}

ReconcilerOptions ToReconcilerOptions(const ServerConfig& config) {
  return {.rebuild = config.rebuild_from_store != RebuildMode::kNever,
          .adoption_grace = config.policy_grace,
          .max_items_per_second = static_cast<double>(config.scan_items_per_second)};
}

// The wall clock, for timestamps in logs and backups only.
absl::Time WallNow(const SystemClock& clock) {
  return clock.Read().wall.value_or(absl::UnixEpoch());
}

// The store usually needs the other half of the cores, and more than a few threads contend in gRPC.
int64_t CallThreads(const ServerConfig& config) {
  if (config.call_threads > 0) return config.call_threads;
  return std::clamp<int64_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

absl::StatusOr<GrpcServerOptions> ToGrpcServerOptions(const ServerConfig& config) {
  TTL_ASSIGN_OR_RETURN(std::vector<ServerAddress> addresses, ToServerAddresses(config));
  return GrpcServerOptions{.addresses = std::move(addresses),
                           .max_connections = ConnectionsWithinFileLimit(config.max_connections),
                           .max_message_bytes = config.max_message_bytes,
                           .max_streams_per_connection = config.max_streams_per_connection,
                           .memory_bytes = config.rpc_memory_bytes,
                           .call_threads = CallThreads(config),
                           .drain = std::min(config.stop_deadline / 4, kMaxDrain)};
}

// Runs the sweeper on its thread. The destructor cancels the calls in flight.
class SweepThread {
 public:
  // All must outlive this; `store` may be null.
  SweepThread(Sweeper& sweeper, PreviousRun& previous_run, PrimaryStoreClient* store,
              WakeSignal& signal)
      : store_(store), loop_(signal, [&sweeper, &previous_run] {
          const absl::Duration until_settled = previous_run.Settle();
          return std::min(sweeper.RunOnce().wait, until_settled);
        }) {}
  ~SweepThread() {
    if (store_ != nullptr) store_->Cancel();
  }

 private:
  PrimaryStoreClient* const store_;
  BackgroundLoop loop_;
};

// The gRPC services.
struct Services {
  Services(const ContainerServiceOptions& container_options, CheckCounters& counters,
           const ExpiryService::Parts& parts, ExpiryServiceOptions expiry_options,
           MaintenanceService::Parts maintenance_parts)
      : container(parts.storage.containers(), parts.storage.tallies(), parts.clock, parts.usage,
                  container_options),
        item_calls(parts.storage.containers(), parts.storage.items(), parts.clock, parts.trust,
                   counters, container_options.policy_grace),
        item(item_calls),
        expiry(parts, std::move(expiry_options)),
        maintenance(std::move(maintenance_parts)) {}

  ContainerService container;
  ItemCalls item_calls;
  ItemService item;
  ExpiryService expiry;
  MaintenanceService maintenance;
  HealthService health;

  std::vector<RpcService*> AllButHealth() { return {&container, &item, &expiry, &maintenance}; }

  std::vector<std::string> Names() {
    std::vector<std::string> names = {health.descriptor().full_name()};
    for (const RpcService* service : AllButHealth()) {
      names.push_back(service->descriptor().full_name());
    }
    return names;
  }
};

// The sources of the metrics while the sidecar serves.
class ShownSources {
 public:
  // All must outlive this.
  ShownSources(SidecarMetrics& metrics, const ExpiryView::Parts& view, SweepBoard& board,
               absl::Duration start_steady, const OverdueWatch& overdue, const CallCounters& calls,
               const CheckCounters& checks, const AccessCounters& access,
               const ReconciliationBoard& reconciliations, const Readiness& readiness)
      : metrics_(metrics),
        view_(view),
        expiry_({view.storage, board, view_, start_steady, overdue}) {
    metrics_.Attach({.storage = view.storage,
                     .expiry = expiry_,
                     .calls = calls,
                     .checks = checks,
                     .access = access,
                     .data_trust = view.storage.data_trust(),
                     .reconciliations = reconciliations,
                     .is_ready = [&readiness] { return readiness.is_ready(); }});
  }
  ~ShownSources() { metrics_.Detach(); }
  ShownSources(const ShownSources&) = delete;
  ShownSources& operator=(const ShownSources&) = delete;

 private:
  SidecarMetrics& metrics_;
  const ExpiryView view_;
  const ExpiryMetrics expiry_;
};

}  // namespace

// In the order of construction. Parts that a failed start has not reached are null.
struct Sidecar::Parts {
  explicit Parts(const ServerConfig& server_config) : config(server_config) {}

  absl::Status Start();
  // Whether a failed start may remove the data directory: it was created by this start and holds
  // nothing but its own data.
  bool MayRemoveDataDir() const;
  absl::StatusOr<std::vector<ContainerEntry>> ReadEntries() const;
  absl::Status Apply(const std::vector<ContainerEntry>& entries);
  absl::Status OpenStorage();
  absl::Status LoadLevers();
  absl::Status BuildSweeper();
  AdoptionPreviewer MakePreviewer();
  void BuildServices();
  absl::Status ChangeAtStart(std::vector<ContainerEntry> entries);
  void MakeWaitingStartChanges();
  absl::Status ReadinessNow() const;
  void StartReconciler();
  void OnWhole();
  void StartBackgroundWork();
  absl::Status StartServing(const GrpcServerOptions& server_options);
  absl::Status StartMetrics();
  void ShowSources();
  ExpiryView::Parts ViewParts() const;
  // Why the sweep makes no progress, one sentence each.
  std::vector<std::string> SweepTroubles();

  const ServerConfig config;
  const SystemClock system_clock;
  bool made_data_dir = false;
  size_t applied_entries = 0;
  SweepBoard board{static_cast<size_t>(config.metrics_containers)};
  UsageLedger usage;
  CheckCounters counters;
  CallCounters call_counters;
  IdentityRoles identities;
  AccessCounters access_counters;
  SidecarMetrics metrics{Version()};
  std::unique_ptr<MetricsServer> metrics_server;  // null: --metrics-listen is not given
  WakeSignal due_signal;
  WakeSignal clock_signal;
  WakeSignal housekeeping_signal;
  WakeSignal readiness_signal;
  WakeSignal reconcile_signal;
  WakeSignal start_changes_signal;
  ReconciliationBoard reconciliations{reconcile_signal};
  std::unique_ptr<Storage> storage;
  std::unique_ptr<GuardedClock> clock;
  std::unique_ptr<ClockKeeper> clock_keeper;
  absl::Duration start_steady;
  std::unique_ptr<DeleteLimit> limit;
  std::unique_ptr<StoreTrust> trust;
  std::unique_ptr<PrimaryStoreClient> store;  // null: no store is configured
  std::unique_ptr<PreviousRun> previous_run;
  std::unique_ptr<Sweeper> sweeper;
  std::unique_ptr<Reconciler> reconciler;
  std::unique_ptr<OverdueWatch> overdue;
  std::unique_ptr<Services> services;
  std::vector<std::unique_ptr<RpcService>> reflections;  // empty: not served
  std::unique_ptr<BackgroundLoop> clock_loop;
  std::unique_ptr<BackgroundLoop> housekeeping_loop;
  std::unique_ptr<BackgroundLoop> reconcile_loop;
  std::unique_ptr<SweepThread> sweep_thread;  // cancels the calls of the loop above, so ends first
  std::unique_ptr<StartChanges> start_changes;
  std::atomic<bool> start_changes_wait = false;
  // Ends before the sweep, because a change may wait for its calls. Null: no change had to wait.
  std::unique_ptr<BackgroundLoop> start_changes_loop;
  std::unique_ptr<GrpcServer> server;
  std::unique_ptr<Readiness> readiness;
  std::unique_ptr<SweepHealth> sweep_health;
  std::unique_ptr<BackgroundLoop> readiness_loop;
  std::unique_ptr<ShownSources> shown_sources;
};

absl::Status Sidecar::Parts::OpenStorage() {
  TTL_ASSIGN_OR_RETURN(made_data_dir, MakeDataDir(config.data_dir));
  TTL_ASSIGN_OR_RETURN(storage, OpenForRebuild(config, ToStorageOptions(config, &due_signal),
                                               WallNow(system_clock)));
  TTL_ASSIGN_OR_RETURN(std::optional<ClockMemory> memory,
                       storage->sidecar_state().LoadClockMemory());
  clock = std::make_unique<GuardedClock>(system_clock, std::move(memory));
  clock_keeper = std::make_unique<ClockKeeper>(*clock, storage->sidecar_state());
  clock_keeper->RunOnce();
  return absl::OkStatus();
}

absl::Status Sidecar::Parts::LoadLevers() {
  SidecarState& state = storage->sidecar_state();
  TTL_ASSIGN_OR_RETURN(const std::optional<StoredDeleteLimit> stored, state.LoadDeleteLimit());
  limit = std::make_unique<DeleteLimit>(stored.has_value() ? stored->max_deletes_per_second
                                                           : config.max_deletes_per_second);
  TTL_ASSIGN_OR_RETURN(std::optional<std::string> store_id, state.LoadStoreId());
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> doubt, state.LoadStoreDoubt());
  // Without a store an operator could not confirm it.
  std::optional<std::string> other;
  if (!config.store.empty()) {
    TTL_ASSIGN_OR_RETURN(other, state.LoadOtherStoreId());
  }
  trust = std::make_unique<StoreTrust>(std::move(store_id), doubt.value_or(""), std::move(other));
  return absl::OkStatus();
}

absl::Status Sidecar::Parts::BuildSweeper() {
  if (!config.store.empty()) {
    const auto credentials = MakeStoreCredentials(config.store_tls);
    if (!credentials.ok()) return AboutTls("--store", credentials.status());
    store = std::make_unique<PrimaryStoreClient>(config.store, *credentials,
                                                 config.store_tls_server_name);
  }
  TTL_ASSIGN_OR_RETURN(PreviousRun runs_before,
                       PreviousRun::Begin(*storage, system_clock, config.delete_deadline));
  previous_run = std::make_unique<PreviousRun>(std::move(runs_before));
  sweeper = std::make_unique<Sweeper>(ToSweeperOptions(config),
                                      Sweeper::Parts{.system_clock = system_clock,
                                                     .clock = *clock,
                                                     .storage = *storage,
                                                     .store = store.get(),
                                                     .board = board,
                                                     .usage = usage,
                                                     .limit = *limit,
                                                     .trust = *trust,
                                                     .wake = due_signal});
  return absl::OkStatus();
}

AdoptionPreviewer Sidecar::Parts::MakePreviewer() {
  if (store == nullptr) return nullptr;
  return [this](std::string container, ContainerSettings settings) {
    return PreviewStore(*store, *clock,
                        {.max_items_per_second = static_cast<double>(config.scan_items_per_second)},
                        std::move(container), std::move(settings));
  };
}

void Sidecar::Parts::BuildServices() {
  start_steady = system_clock.Read().boot.value_or(absl::ZeroDuration());
  overdue = std::make_unique<OverdueWatch>(ViewParts(), start_steady);
  const ExpiryService::Parts parts = {.storage = *storage,
                                      .clock = *clock,
                                      .system_clock = system_clock,
                                      .board = board,
                                      .counters = counters,
                                      .usage = usage,
                                      .limit = *limit,
                                      .trust = *trust};
  ExpiryServiceOptions options = {
      .max_deletes_per_second = config.max_deletes_per_second,
      .container_max_deletes_per_second = config.container_max_deletes_per_second,
      .start_time = clock->Read().now,
      .start_steady = start_steady,
      .overdue = [this] { return overdue->Reasons(); },
      .on_clock_accepted =
          [this] {
            clock_keeper->SaveSoon();
            clock_signal.Notify();
          },
      .on_store_confirmed =
          [this] {
            reconcile_signal.Notify();
            readiness_signal.Notify();
          },
      .on_change =
          [this] {
            storage->due_changes().AddAll();
            due_signal.Notify();
          }};
  services =
      std::make_unique<Services>(ContainerServiceOptions{.policy_grace = config.policy_grace},
                                 counters, parts, std::move(options),
                                 MaintenanceService::Parts{.storage = *storage,
                                                           .clock = *clock,
                                                           .reconciliations = reconciliations,
                                                           .has_store = store != nullptr,
                                                           .preview = MakePreviewer(),
                                                           .on_whole = [this] { OnWhole(); }});
  if (config.reflection) reflections = NewReflectionServices(services->Names());
}

// If the volume accepts no writes, the start continues without its changes: checks do not need
// them, and nothing is deleted until they are made.
absl::Status Sidecar::Parts::ChangeAtStart(std::vector<ContainerEntry> entries) {
  start_changes = std::make_unique<StartChanges>(config, std::move(entries), *storage, *clock);
  const absl::Status made = start_changes->Make();
  if (!TakesNoWrites(made)) {
    if (made.ok()) storage->delete_gate().Open(DeleteGate::kAllContainers);
    return made;
  }
  start_changes_wait = true;
  spdlog::warn(
      "started for checks only: nothing is deleted, and the containers file is not applied, "
      "until storage accepts writes: reason={}",
      Quoted(made.message(), 1024));
  start_changes_loop = std::make_unique<BackgroundLoop>(start_changes_signal, [this] {
    MakeWaitingStartChanges();
    return kHousekeepingInterval;
  });
  return absl::OkStatus();
}

void Sidecar::Parts::MakeWaitingStartChanges() {
  if (!start_changes_wait || !storage->OutcomeHealth().ok() || !start_changes->Make().ok()) return;
  start_changes_wait = false;
  spdlog::info("start completed: storage accepts writes");
  storage->delete_gate().Open(DeleteGate::kAllContainers);
  due_signal.Notify();
  reconcile_signal.Notify();
  readiness_signal.Notify();
}

void Sidecar::Parts::StartBackgroundWork() {
  clock_loop =
      std::make_unique<BackgroundLoop>(clock_signal, [this] { return clock_keeper->RunOnce(); });
  housekeeping_loop = std::make_unique<BackgroundLoop>(housekeeping_signal, [this] {
    return storage->RunHousekeeping() ? absl::ZeroDuration() : kHousekeepingInterval;
  });
  sweep_thread = std::make_unique<SweepThread>(*sweeper, *previous_run, store.get(), due_signal);
}

// Called when all containers exist, because a rebuild goes through them.
void Sidecar::Parts::StartReconciler() {
  reconciler = std::make_unique<Reconciler>(ToReconcilerOptions(config),
                                            Reconciler::Parts{.system_clock = system_clock,
                                                              .clock = *clock,
                                                              .storage = *storage,
                                                              .store = store.get(),
                                                              .trust = *trust,
                                                              .sweep_board = board,
                                                              .board = reconciliations,
                                                              .on_whole = [this] { OnWhole(); }});
  reconcile_loop = std::make_unique<BackgroundLoop>(reconcile_signal, [this] {
    return start_changes_wait ? kHousekeepingInterval : reconciler->RunOnce();
  });
}

// The data is not in doubt any more: deletes may resume, and the sidecar may be ready.
void Sidecar::Parts::OnWhole() {
  storage->due_changes().AddAll();
  due_signal.Notify();
  readiness_signal.Notify();
}

absl::Status Sidecar::Parts::StartServing(const GrpcServerOptions& server_options) {
  // Created before the server, so that the sidecar is not ready before it listens.
  readiness = std::make_unique<Readiness>(services->health);
  sweep_health = std::make_unique<SweepHealth>(services->health);
  std::vector<RpcService*> served = services->AllButHealth();
  for (const auto& reflection : reflections) served.push_back(reflection.get());
  TTL_ASSIGN_OR_RETURN(server,
                       GrpcServer::Start(server_options, {.services = served,
                                                          .health = services->health,
                                                          .counters = call_counters,
                                                          .identities = identities,
                                                          .access_counters = access_counters,
                                                          .roles_of_method = RolesOfMethod}));
  readiness->Set(ReadinessNow());
  readiness_loop = std::make_unique<BackgroundLoop>(readiness_signal, [this] {
    storage->CheckFiles();
    absl::Status state = ReadinessNow();
    if (state.ok()) state = server->CheckSockets();
    readiness->Set(state);
    sweep_health->Set(SweepTroubles());
    return kReadinessInterval;
  });
  return absl::OkStatus();
}

absl::Status Sidecar::Parts::ReadinessNow() const {
  TTL_RETURN_IF_ERROR(ReadinessOf(config, *storage));
  if (!start_changes_wait) return absl::OkStatus();
  return absl::UnavailableError("the start is not complete until storage accepts writes");
}

// Called before anything that may take long, so that the start can be monitored.
absl::Status Sidecar::Parts::StartMetrics() {
  if (config.metrics_listen.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(metrics_server, MetricsServer::Start(config.metrics_listen,
                                                            [this] { return metrics.Text(); }));
  const std::string port =
      metrics_server->port() == 0 ? "" : absl::StrCat(" port=", metrics_server->port());
  spdlog::info("metrics: address={}{}", Quoted(config.metrics_listen, 256), port);
  return absl::OkStatus();
}

ExpiryView::Parts Sidecar::Parts::ViewParts() const {
  return {.storage = *storage,
          .clock = *clock,
          .system_clock = system_clock,
          .board = board,
          .usage = usage,
          .limit = *limit,
          .trust = *trust,
          .container_max_deletes_per_second = config.container_max_deletes_per_second};
}

void Sidecar::Parts::ShowSources() {
  shown_sources = std::make_unique<ShownSources>(metrics, ViewParts(), board, start_steady,
                                                 *overdue, call_counters, counters, access_counters,
                                                 reconciliations, *readiness);
}

std::vector<std::string> Sidecar::Parts::SweepTroubles() {
  overdue->RunOnce();
  std::vector<std::string> troubles = overdue->Reasons();
  // Without the steady clock a stall cannot be measured.
  const std::optional<absl::Duration> now = system_clock.Read().boot;
  if (!now.has_value()) return troubles;
  if (const auto stall = SweepStall(board.Sweeper(), start_steady, *now)) {
    troubles.push_back(StalledSweepReason(*stall));
  }
  return troubles;
}

absl::StatusOr<std::vector<ContainerEntry>> Sidecar::Parts::ReadEntries() const {
  if (config.containers_file.empty()) return std::vector<ContainerEntry>();
  return ReadContainersFile(config.containers_file);
}

absl::Status Sidecar::Parts::Apply(const std::vector<ContainerEntry>& entries) {
  return ApplyContainers(entries, *storage, clock->Read().now, config.policy_grace);
}

absl::Status Sidecar::Parts::Start() {
  TTL_ASSIGN_OR_RETURN(std::vector<ContainerEntry> entries, ReadEntries());
  TTL_ASSIGN_OR_RETURN(GrpcServerOptions server_options, ToGrpcServerOptions(config));
  if (!config.access_file.empty()) {
    TTL_ASSIGN_OR_RETURN(identities, ReadAccessFile(config.access_file));
  }
  TTL_RETURN_IF_ERROR(OpenStorage());
  TTL_RETURN_IF_ERROR(StartMetrics());
  TTL_RETURN_IF_ERROR(LoadLevers());
  TTL_RETURN_IF_ERROR(BuildSweeper());
  BuildServices();
  // The gate stays closed until the containers file and --start-paused are applied. The loops run
  // already, because a change may have to wait for deletes that the previous run has sent.
  storage->delete_gate().Close(DeleteGate::kAllContainers, [] {});
  StartBackgroundWork();
  applied_entries = entries.size();
  TTL_RETURN_IF_ERROR(ChangeAtStart(std::move(entries)));
  due_signal.Notify();
  StartReconciler();
  TTL_RETURN_IF_ERROR(StartServing(server_options));
  ShowSources();
  return absl::OkStatus();
}

// Containers that are not in the file were created by calls, which one address may have answered
// before another failed to listen. Without a container nothing can be tracked.
bool Sidecar::Parts::MayRemoveDataDir() const {
  return made_data_dir &&
         (storage == nullptr || storage->containers().All().size() <= applied_entries);
}

absl::StatusOr<std::unique_ptr<Sidecar>> Sidecar::Start(const ServerConfig& config) {
  auto parts = std::make_unique<Parts>(config);
  const absl::Status started = parts->Start();
  if (started.ok()) return std::unique_ptr<Sidecar>(new Sidecar(std::move(parts)));
  const bool remove = parts->MayRemoveDataDir();
  parts.reset();
  std::error_code error;
  if (remove) std::filesystem::remove_all(config.data_dir, error);
  return started;
}

Sidecar::Sidecar(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Sidecar::~Sidecar() = default;

void Sidecar::ReloadContainers() {
  if (parts_->config.containers_file.empty()) {
    spdlog::info("SIGHUP ignored: reason=\"--containers is not given\"");
    return;
  }
  const std::string file = Quoted(parts_->config.containers_file, 4096);
  const auto entries = parts_->ReadEntries();
  const absl::Status applied = entries.ok() ? parts_->Apply(*entries) : entries.status();
  if (applied.ok()) {
    spdlog::info("containers file reloaded: file={} containers={}", file, entries->size());
  } else {
    spdlog::error("containers file not reloaded: file={} reason={}", file,
                  Quoted(applied.ToString(), 4096));
  }
}

int ThreadsOf(const ServerConfig& config) {
  // Log, signals, commits (2), LevelDB, sweeper and its calls (2), call worker, metrics, and the
  // loops of clock, housekeeping, reconciliation and readiness; two to spare.
  constexpr int kFixed = 16;
  const auto addresses = static_cast<int>(config.listen_sockets.size() + config.listen_tcp.size() +
                                          (config.health_tcp.empty() ? 0 : 1));
  // Plus one per address that shuts it down.
  return kFixed + addresses * (static_cast<int>(CallThreads(config)) + 1);
}

absl::Status CheckDataDir(const ServerConfig& config) {
  std::error_code error;
  if (!std::filesystem::is_directory(config.data_dir, error)) {
    return absl::NotFoundError(
        absl::StrCat("--data-dir: \"", config.data_dir, "\" is not a directory"));
  }
  TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> storage,
                       Storage::Open(ToStorageOptions(config, nullptr)));
  return storage->CheckInvariants();
}

absl::Status RestoreDataDir(const ServerConfig& config) {
  const SystemClock clock;
  TTL_ASSIGN_OR_RETURN(
      const RestoreReport report,
      RestoreBackup(config.restore_file, ToStorageOptions(config, nullptr), WallNow(clock)));
  spdlog::info("restored: records={} backup_time={}; deletes are paused", report.records,
               TimeText(report.backup_time));
  return absl::OkStatus();
}

absl::Status RepairDataDir(const ServerConfig& config) {
  const SystemClock clock;
  TTL_ASSIGN_OR_RETURN(
      const RepairReport report,
      RepairCopy(config.repair_source, ToStorageOptions(config, nullptr), WallNow(clock)));
  for (const std::string& loss : report.losses) {
    spdlog::warn("data lost: detail={}", Quoted(loss, 1024));
  }
  spdlog::info("repaired: containers={} items={}; deletes are paused", report.containers,
               report.items);
  return absl::OkStatus();
}

}  // namespace ttl
