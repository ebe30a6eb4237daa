#ifndef TTL_SERVICE_SERVER_DELETING_H_
#define TTL_SERVICE_SERVER_DELETING_H_

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/base/background_loop.h"
#include "service/core/adoption_preview.h"
#include "service/core/state/feed_progress.h"
#include "service/core/state/published_reconciliation.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/usage_meter.h"
#include "service/expiry/feed/announcer.h"
#include "service/expiry/feed/feed_judge.h"
#include "service/expiry/moment_reader.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/store/reconciler.h"
#include "service/expiry/sweep/previous_run.h"
#include "service/expiry/sweep/sweeper.h"
#include "service/server/config/config.h"
#include "service/server/data.h"
#include "service/server/loop_signals.h"
#include "service/server/start_changes.h"
#include "service/storage/levers.h"
#include "service/yaml/container_entries.h"

namespace ttl {

// The second stage of a sidecar: all that sends deletes, tells expiries and reads the primary
// store, in loops of its own, with the state that operators and the store change. Destroyed, it
// cancels the calls to the store and ends its loops. Thread-safe.
class Deleting {
 public:
  // Loads the state, starts the loops, and makes the changes of the start (StartChanges). Until
  // these are made nothing is deleted, so that no delete follows a policy that the containers
  // file replaces. Blocks while they wait for deletes of the previous run. If storage accepts no
  // writes, the changes are made later, and StartChangesMade() says so. All parameters must outlive
  // this. INVALID_ARGUMENT for credentials of the store that cannot be read; else errors of
  // storage.
  static absl::StatusOr<std::unique_ptr<Deleting>> Start(const ServerConfig& config,
                                                         std::vector<ContainerEntry> entries,
                                                         Data& data, LoopSignals& signals);
  ~Deleting();
  Deleting(const Deleting&) = delete;
  Deleting& operator=(const Deleting&) = delete;

  PublishedSweep& published() { return published_; }
  UsageMeter& usage() { return usage_; }
  Levers& levers() { return *levers_; }
  PublishedReconciliation& reconciliations() { return reconciliations_; }
  const FeedProgress& feed_progress() const { return feed_progress_; }

  bool has_store() const { return store_ != nullptr; }

  // Previews containers from the items of the store; null if no store is configured.
  AdoptionPreviewer MakePreviewer();

  // OK once the changes of the start are made; else UNAVAILABLE.
  absl::Status StartChangesMade() const;

  // Cancels the calls to the store under way and refuses later ones, before the process stops.
  void CancelStoreCalls();

  // Makes the sweeper look at all containers again, because something has changed that may let
  // deletes proceed.
  void OnChange();

 private:
  Deleting(const ServerConfig& config, Data& data, LoopSignals& signals);

  absl::Status LoadLevers();
  absl::Status ConnectStore();
  absl::Status BuildSweeper();
  absl::Status MakeStartChanges(std::vector<ContainerEntry> entries);
  void RetryStartChanges();
  void StartSweep();
  void StartAnnouncer();
  void StartReconciler();

  const ServerConfig& config_;
  Data& data_;
  LoopSignals& signals_;
  PublishedSweep published_;
  UsageMeter usage_;
  PublishedReconciliation reconciliations_;
  FeedProgress feed_progress_;
  std::unique_ptr<Levers> levers_;
  std::unique_ptr<PrimaryStoreClient> store_;  // null: no store is configured
  std::optional<PreviousRun> previous_run_;
  MomentReader moments_;            // used by the sweeper only
  MomentReader announcer_moments_;  // used by the announcer only
  std::optional<FeedJudge> feed_judge_;
  std::unique_ptr<Sweeper> sweeper_;
  std::unique_ptr<Announcer> announcer_;
  std::unique_ptr<Reconciler> reconciler_;
  std::unique_ptr<StartChanges> start_changes_;
  std::atomic<bool> start_changes_wait_ = false;
  // Destroyed in the reverse order: a change of the start may wait for calls of the sweep, and
  // these end before the reconciler's.
  std::optional<BackgroundLoop> reconcile_loop_;
  std::optional<BackgroundLoop> announce_loop_;
  std::optional<BackgroundLoop> sweep_loop_;
  std::optional<BackgroundLoop> start_changes_loop_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_DELETING_H_
