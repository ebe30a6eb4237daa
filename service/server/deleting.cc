#include "service/server/deleting.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/expiry/store/store_preview.h"
#include "service/server/config/store_credentials.h"
#include "service/server/rebuild.h"

namespace ttl {
namespace {

constexpr absl::Duration kStartChangesInterval = absl::Seconds(1);

SweeperOptions ToSweeperOptions(const ServerConfig& config) {
  return {.batch_items = config.delete_batch_items,
          .max_calls_under_way = config.max_calls_under_way,
          .delete_deadline = config.delete_deadline,
          .container_max_deletes_per_second = config.container_max_deletes_per_second,
          .max_store_clock_skew = config.max_store_clock_skew,
          .not_found_burst_items = config.not_found_burst_items};
}

ReconcilerOptions ToReconcilerOptions(const ServerConfig& config) {
  return {.rebuild = config.rebuild_from_store != RebuildMode::kNever,
          .adoption_grace = config.policy_grace,
          .max_items_per_second = static_cast<double>(config.scan_items_per_second)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Deleting>> Deleting::Start(const ServerConfig& config,
                                                          std::vector<ContainerEntry> entries,
                                                          Data& data, LoopSignals& signals) {
  std::unique_ptr<Deleting> deleting(new Deleting(config, data, signals));
  TTL_RETURN_IF_ERROR(deleting->LoadLevers());
  data.storage().feed().SetClock([judge = &*deleting->feed_judge_] { return judge->Read(); });
  TTL_RETURN_IF_ERROR(deleting->ConnectStore());
  TTL_RETURN_IF_ERROR(deleting->BuildSweeper());
  // The sweep runs behind the closed gate, because a change may have to wait until the deletes
  // of the previous run can no longer arrive, and the sweep counts that time.
  data.storage().delete_gate().Close(DeleteGate::kAllContainers, [] {});
  deleting->StartSweep();
  TTL_RETURN_IF_ERROR(deleting->MakeStartChanges(std::move(entries)));
  signals.sweep.Notify();
  deleting->StartAnnouncer();
  // A rebuild goes through all containers, so it begins when the file is applied.
  deleting->StartReconciler();
  return deleting;
}

Deleting::Deleting(const ServerConfig& config, Data& data, LoopSignals& signals)
    : config_(config),
      data_(data),
      signals_(signals),
      published_(static_cast<size_t>(config.metrics_containers)),
      reconciliations_(signals.reconcile),
      moments_(data.system_clock(), data.clock()),
      announcer_moments_(data.system_clock(), data.clock()) {}

Deleting::~Deleting() {
  start_changes_loop_.reset();
  CancelStoreCalls();
  sweep_loop_.reset();
  announce_loop_.reset();
  reconcile_loop_.reset();
  // The storage outlives what judges.
  data_.storage().feed().SetClock(nullptr);
}

void Deleting::CancelStoreCalls() {
  if (store_ != nullptr) store_->Cancel();
}

absl::Status Deleting::LoadLevers() {
  // Readiness depends on the doubt about the data.
  const auto on_change = [this] {
    OnChange();
    signals_.readiness.Notify();
  };
  TTL_ASSIGN_OR_RETURN(
      levers_, Levers::Load(data_.storage(),
                            {.default_limit_per_second = config_.max_deletes_per_second,
                             .has_store = !config_.store.empty(),
                             .on_change = on_change,
                             .on_store_confirmed = [this] { signals_.reconcile.Notify(); }}));
  feed_judge_.emplace(data_.clock(), data_.system_clock(), data_.storage().data_trust(),
                      levers_->store_trust());
  return absl::OkStatus();
}

absl::Status Deleting::ConnectStore() {
  if (config_.store.empty()) return absl::OkStatus();
  const auto credentials = MakeStoreCredentials(config_.store_tls);
  if (!credentials.ok()) {
    return absl::Status(credentials.status().code(),
                        absl::StrCat("TLS of --store: ", credentials.status().message()));
  }
  store_ = std::make_unique<PrimaryStoreClient>(config_.store, *credentials,
                                                config_.store_tls_server_name);
  return absl::OkStatus();
}

absl::Status Deleting::BuildSweeper() {
  TTL_ASSIGN_OR_RETURN(
      PreviousRun previous_run,
      PreviousRun::Begin(data_.storage(), data_.system_clock(), config_.delete_deadline));
  previous_run_.emplace(std::move(previous_run));
  sweeper_ = std::make_unique<Sweeper>(ToSweeperOptions(config_),
                                       Sweeper::Parts{.storage = data_.storage(),
                                                      .store = store_.get(),
                                                      .published = published_,
                                                      .usage = usage_,
                                                      .levers = *levers_,
                                                      .wake = signals_.sweep,
                                                      .moments = moments_,
                                                      .feed_progress = &feed_progress_});
  return absl::OkStatus();
}

void Deleting::StartSweep() {
  sweep_loop_.emplace(signals_.sweep, [this] {
    const absl::Duration until_settled = previous_run_->Settle();
    return std::min(sweeper_->RunOnce().wait, until_settled);
  });
}

// Not before the changes of the start are made: nothing is announced by a policy that they replace.
void Deleting::StartAnnouncer() {
  announcer_ = std::make_unique<Announcer>(Announcer::Parts{.storage = data_.storage(),
                                                            .judge = *feed_judge_,
                                                            .moments = announcer_moments_,
                                                            .progress = feed_progress_});
  announce_loop_.emplace(signals_.announce, [this] {
    return start_changes_wait_ ? kStartChangesInterval : announcer_->RunOnce().wait;
  });
}

// If the volume accepts no writes, the start continues without its changes: checks do not need
// them, and nothing is deleted until they are made.
absl::Status Deleting::MakeStartChanges(std::vector<ContainerEntry> entries) {
  start_changes_ =
      std::make_unique<StartChanges>(config_, std::move(entries), data_.storage(), data_.clock());
  const absl::Status made = start_changes_->Make();
  if (!TakesNoWrites(made)) {
    if (made.ok()) data_.storage().delete_gate().Open(DeleteGate::kAllContainers);
    return made;
  }
  start_changes_wait_ = true;
  spdlog::warn(
      "started for checks only: nothing is deleted, and the containers file is not applied, "
      "until storage accepts writes: reason={}",
      Quoted(made.message(), 1024));
  start_changes_loop_.emplace(signals_.start_changes, [this] {
    RetryStartChanges();
    return kStartChangesInterval;
  });
  return absl::OkStatus();
}

void Deleting::RetryStartChanges() {
  if (!start_changes_wait_ || !data_.storage().OutcomeHealth().ok()) return;
  if (!start_changes_->Make().ok()) return;
  start_changes_wait_ = false;
  spdlog::info("start completed: storage accepts writes");
  data_.storage().delete_gate().Open(DeleteGate::kAllContainers);
  signals_.sweep.Notify();
  signals_.reconcile.Notify();
  signals_.readiness.Notify();
}

void Deleting::StartReconciler() {
  reconciler_ = std::make_unique<Reconciler>(ToReconcilerOptions(config_),
                                             Reconciler::Parts{.system_clock = data_.system_clock(),
                                                               .clock = data_.clock(),
                                                               .storage = data_.storage(),
                                                               .store = store_.get(),
                                                               .levers = *levers_,
                                                               .published_sweep = published_,
                                                               .published = reconciliations_});
  reconcile_loop_.emplace(signals_.reconcile, [this] {
    return start_changes_wait_ ? kStartChangesInterval : reconciler_->RunOnce();
  });
}

AdoptionPreviewer Deleting::MakePreviewer() {
  if (!has_store()) return nullptr;
  return [this](std::string container, ContainerSettings settings) {
    return PreviewStore(
        *store_, data_.clock(),
        {.max_items_per_second = static_cast<double>(config_.scan_items_per_second)},
        std::move(container), std::move(settings));
  };
}

absl::Status Deleting::StartChangesMade() const {
  if (!start_changes_wait_) return absl::OkStatus();
  return absl::UnavailableError("the start is not complete until storage accepts writes");
}

void Deleting::OnChange() {
  data_.storage().due_changes().AddAll();
  signals_.sweep.Notify();
  signals_.announce.Notify();
}

}  // namespace ttl
