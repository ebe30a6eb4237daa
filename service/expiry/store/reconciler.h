#ifndef TTL_SERVICE_EXPIRY_STORE_RECONCILER_H_
#define TTL_SERVICE_EXPIRY_STORE_RECONCILER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/core/container.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/reconciliation.h"
#include "service/core/state/reconciliation_board.h"
#include "service/core/state/store_trust.h"
#include "service/core/state/sweep_board.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/storage.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

struct ReconcilerOptions {
  // Whether data in doubt is made whole by itself, whatever the doubt; if it is that the
  // store was confirmed, it always is.
  bool rebuild = false;

  // How long what is due already when it is adopted waits for its delete.
  absl::Duration adoption_grace;

  // Most items read from the store per second. Above 0.
  double max_items_per_second = 50000;

  // Time that reading one page may take.
  absl::Duration page_deadline = absl::Minutes(1);

  // Most items of a page, and of one commit. At least 1.
  int64_t page_items = 10000;
  size_t commit_items = 250;
};

// Compares what is tracked with the primary store, container by container, and makes
// it agree; see StartReconciliation in maintenance_service.proto. A step reads one page of
// the store's items and applies it, or looks at some tracked items; the loop around it
// (BackgroundLoop) only waits. Why what is reported meanwhile wins: scan_marks.h.
//
// A rebuild remembers durably how far it is, so that a killed process goes on with the
// page it was at: pages before are committed, and a page applied twice changes nothing.
// It ends the doubt of the data when all containers are through, unless that has another
// reason by then: what was read from a store that was confirmed since says nothing. For one
// thread.
class Reconciler {
 public:
  struct Parts {
    const Clock& system_clock;
    const GuardedClock& clock;
    Storage& storage;
    PrimaryStoreClient* store;  // null: none is configured
    const StoreTrust& trust;
    const SweepBoard& sweep_board;
    ReconciliationBoard& board;
    // Called when the data is no longer in doubt. Must not block.
    std::function<void()> on_whole;
  };

  // Begins with a rebuild, if one is to be made.
  Reconciler(const ReconcilerOptions& options, Parts parts);

  // One step. Returns how long to wait for the next.
  absl::Duration RunOnce();

 private:
  enum class Phase { kNextContainer, kScan, kUnseen };

  // The reconciliation under way.
  struct Job {
    Reconciliation view;
    std::string doubt;  // of the data, when it began
    Phase phase = Phase::kNextContainer;
    ContainerPtr container;  // under way
    std::string page_token;
    std::optional<ItemKey> looked_at;  // of the tracked items
    // A rebuild that goes on: the container to go on with, and where.
    std::optional<DataDoubt> resumed;
    // Not all of the container was read by this process, so nothing is known to be extra.
    bool is_partial = false;
    int64_t page_items = 0;
    int failures = 0;  // since a step last got on
    int64_t step_items = 0;
  };

  bool NeedsRebuild() const;
  void BeginRebuild();
  bool TakeRequest();
  std::string Unconfirmed() const;
  absl::Status CheckStore() const;
  absl::Status Step();
  absl::Status NextContainer();
  ContainerPtr FindNext() const;
  void EnterContainer(ContainerPtr container);
  void LeaveContainer();
  absl::Status ScanPage();
  absl::Status TakeMessage(const v1::ScanItemsResponse& response);
  absl::Status Apply(const std::vector<ItemReport>& items, Reconciliation& view);
  absl::Status SaveProgress();
  absl::Status LookForUnseen();
  absl::Status EndDoubt();
  absl::Duration OnFailure(const absl::Status& status);
  void Finish(ReconciliationState state, const std::string& problem);
  bool Post();
  void LogProgress();
  absl::Duration SteadyNow() const;
  absl::Duration Pace(absl::Duration took) const;

  const ReconcilerOptions options_;
  const Parts parts_;
  std::optional<Job> job_;
  absl::Duration logged_ = -absl::InfiniteDuration();
  TroubleLog log_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_RECONCILER_H_
