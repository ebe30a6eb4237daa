#include "service/server/sidecar.h"

#include <grpcpp/security/credentials.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/core/background_loop.h"
#include "service/core/delete_limit.h"
#include "service/core/guarded_clock.h"
#include "service/core/status_macros.h"
#include "service/core/store_trust.h"
#include "service/core/sweep_board.h"
#include "service/core/system_clock.h"
#include "service/core/usage_ledger.h"
#include "service/core/wake_signal.h"
#include "service/expiry/previous_run.h"
#include "service/expiry/primary_store_client.h"
#include "service/expiry/sweeper.h"
#include "service/rpc/check_counters.h"
#include "service/rpc/container_service.h"
#include "service/rpc/expiry_service.h"
#include "service/rpc/health.h"
#include "service/rpc/item_service.h"
#include "service/rpc/quoted.h"
#include "service/server/clock_keeper.h"
#include "service/server/containers_file.h"
#include "service/server/grpc_server.h"
#include "service/server/readiness.h"
#include "service/server/sweep_health.h"
#include "service/storage/done.h"
#include "service/storage/storage.h"

namespace ttl {
namespace {

constexpr absl::Duration kHousekeepingInterval = absl::Seconds(1);
constexpr absl::Duration kReadinessInterval = absl::Seconds(1);

// Calls take milliseconds, except for changes that wait for deletes on their way.
// Connections that nobody polls, and open streams, last until the end of this.
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

GrpcServerOptions ToGrpcServerOptions(const ServerConfig& config) {
  return {.socket = {.path = config.listen_socket,
                     .mode = config.socket_mode,
                     .group = config.socket_group},
          .listen_tcp = config.listen_tcp,
          .max_message_bytes = config.max_message_bytes,
          .max_streams_per_connection = config.max_streams_per_connection,
          .memory_bytes = config.rpc_memory_bytes,
          .drain = std::min(config.stop_deadline / 4, kMaxDrain)};
}

// The sweeper in its thread. Destroyed, it gives up the call under way.
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
           const ExpiryService::Parts& parts, ExpiryServiceOptions expiry_options)
      : container(parts.storage.containers(), parts.storage.tallies(), parts.clock, parts.usage,
                  container_options),
        item(parts.storage.containers(), parts.storage.items(), parts.clock, counters),
        expiry(parts, std::move(expiry_options)) {}

  std::vector<grpc::Service*> All() { return {&container, &item, &expiry}; }

  ContainerService container;
  ItemService item;
  ExpiryService expiry;
};

}  // namespace

// In the order of construction. What a failed start has not reached is null.
struct Sidecar::Parts {
  explicit Parts(const ServerConfig& server_config) : config(server_config) {}

  absl::Status OpenStorage();
  absl::Status LoadLevers();
  void BuildSweeper();
  void BuildServices();
  absl::Status PauseIfAsked();
  void StartBackgroundWork();
  absl::Status StartServing();
  // Also absent if the steady clock cannot be read: then nothing is said of a stall.
  std::optional<absl::Duration> SweepStallNow() const;

  const ServerConfig config;
  const SystemClock system_clock;
  SweepBoard board;
  UsageLedger usage;
  CheckCounters counters;
  WakeSignal due_signal;
  WakeSignal clock_signal;
  WakeSignal housekeeping_signal;
  WakeSignal readiness_signal;
  std::unique_ptr<Storage> storage;
  std::unique_ptr<GuardedClock> clock;
  std::unique_ptr<ClockKeeper> clock_keeper;
  absl::Duration start_steady;
  std::unique_ptr<DeleteLimit> limit;
  std::unique_ptr<StoreTrust> trust;
  std::unique_ptr<PrimaryStoreClient> store;  // null: no store is configured
  std::unique_ptr<PreviousRun> previous_run;
  std::unique_ptr<Sweeper> sweeper;
  std::unique_ptr<Services> services;
  std::unique_ptr<BackgroundLoop> clock_loop;
  std::unique_ptr<BackgroundLoop> housekeeping_loop;
  std::unique_ptr<SweepThread> sweep_thread;
  std::unique_ptr<GrpcServer> server;
  std::unique_ptr<Readiness> readiness;
  std::unique_ptr<SweepHealth> sweep_health;
  std::unique_ptr<BackgroundLoop> readiness_loop;
};

absl::Status Sidecar::Parts::OpenStorage() {
  TTL_ASSIGN_OR_RETURN(storage, Storage::Open(ToStorageOptions(config, &due_signal)));
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
  trust = std::make_unique<StoreTrust>(std::move(store_id), doubt.value_or(""));
  return absl::OkStatus();
}

void Sidecar::Parts::BuildSweeper() {
  if (!config.store.empty()) {
    store = std::make_unique<PrimaryStoreClient>(config.store, grpc::InsecureChannelCredentials());
  }
  previous_run = std::make_unique<PreviousRun>(*storage, system_clock, config.delete_deadline);
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
}

void Sidecar::Parts::BuildServices() {
  start_steady = system_clock.Read().boot.value_or(absl::ZeroDuration());
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
      .on_clock_accepted =
          [this] {
            clock_keeper->SaveSoon();
            clock_signal.Notify();
          },
      .on_change =
          [this] {
            storage->due_changes().AddAll();
            due_signal.Notify();
          }};
  services =
      std::make_unique<Services>(ContainerServiceOptions{.policy_grace = config.policy_grace},
                                 counters, parts, std::move(options));
}

absl::Status Sidecar::Parts::PauseIfAsked() {
  Containers& containers = storage->containers();
  if (!config.start_paused || containers.PauseOfAll().has_value()) return absl::OkStatus();
  const Pause pause = {"started with --start-paused", clock->Read().now};
  TTL_RETURN_IF_ERROR(
      Await<absl::Status>([&](auto done) { containers.SetPauseOfAll(pause, std::move(done)); }));
  spdlog::warn("deletes paused: container=all reason={}", Quoted(pause.reason));
  return absl::OkStatus();
}

void Sidecar::Parts::StartBackgroundWork() {
  clock_loop =
      std::make_unique<BackgroundLoop>(clock_signal, [this] { return clock_keeper->RunOnce(); });
  housekeeping_loop = std::make_unique<BackgroundLoop>(housekeeping_signal, [this] {
    return storage->RunHousekeeping() ? absl::ZeroDuration() : kHousekeepingInterval;
  });
  sweep_thread = std::make_unique<SweepThread>(*sweeper, *previous_run, store.get(), due_signal);
}

absl::Status Sidecar::Parts::StartServing() {
  TTL_ASSIGN_OR_RETURN(server, GrpcServer::Start(ToGrpcServerOptions(config), services->All()));
  readiness = std::make_unique<Readiness>(server->health());
  readiness->Set(storage->WriteHealth());
  sweep_health = std::make_unique<SweepHealth>(server->health());
  readiness_loop = std::make_unique<BackgroundLoop>(readiness_signal, [this] {
    readiness->Set(storage->WriteHealth());
    sweep_health->Set(SweepStallNow());
    return kReadinessInterval;
  });
  return absl::OkStatus();
}

std::optional<absl::Duration> Sidecar::Parts::SweepStallNow() const {
  const std::optional<absl::Duration> now = system_clock.Read().boot;
  if (!now.has_value()) return std::nullopt;
  return SweepStall(board.Sweeper(), start_steady, *now);
}

absl::StatusOr<std::unique_ptr<Sidecar>> Sidecar::Start(const ServerConfig& config) {
  std::vector<ContainerEntry> entries;
  if (!config.containers_file.empty()) {
    TTL_ASSIGN_OR_RETURN(entries, ReadContainersFile(config.containers_file));
  }
  auto parts = std::make_unique<Parts>(config);
  TTL_RETURN_IF_ERROR(parts->OpenStorage());
  TTL_RETURN_IF_ERROR(parts->LoadLevers());
  parts->BuildSweeper();
  parts->BuildServices();
  // Nothing is deleted by a policy that the file is about to replace, nor before a pause
  // that was asked for. The loops run
  // already, because a change may have to wait for what the previous run has sent.
  DeleteGate& gate = parts->storage->delete_gate();
  gate.Close(DeleteGate::kAllContainers, [] {});
  parts->StartBackgroundWork();
  TTL_RETURN_IF_ERROR(parts->PauseIfAsked());
  TTL_RETURN_IF_ERROR(
      ApplyContainers(entries, *parts->storage, parts->clock->Read().now, config.policy_grace));
  gate.Open(DeleteGate::kAllContainers);
  parts->due_signal.Notify();
  TTL_RETURN_IF_ERROR(parts->StartServing());
  return std::unique_ptr<Sidecar>(new Sidecar(std::move(parts)));
}

Sidecar::Sidecar(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Sidecar::~Sidecar() = default;

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

}  // namespace ttl
