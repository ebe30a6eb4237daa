#ifndef TTL_SERVICE_EXPIRY_STORE_RECONCILER_H_
#define TTL_SERVICE_EXPIRY_STORE_RECONCILER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/core/container.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/published_reconciliation.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/reconciliation.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/levers.h"
#include "service/storage/storage.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

struct ReconcilerOptions {
  // Whether data in doubt is rebuilt automatically, whatever the doubt. After an operator has
  // confirmed another store it always is.
  bool rebuild = false;

  // How long an item that is already due when it is adopted waits before it is deleted.
  absl::Duration adoption_grace;

  // Maximum items read from the store per second. Above 0.
  double max_items_per_second = 50000;

  // Deadline for reading one page.
  absl::Duration page_deadline = absl::Minutes(1);

  // Maximum items of a page, and of one commit. At least 1.
  int64_t page_items = 10000;
  size_t commit_items = 250;
};

// Compares the tracked items with the primary store, container by container, and corrects the
// differences; see StartReconciliation in maintenance_service.proto. A step reads and applies one
// page of the store's items, or examines some tracked items; the loop around it (BackgroundLoop)
// only waits. scan_marks.h explains why reports made meanwhile win over pages.
//
// A rebuild stores its progress durably, so that a killed process continues with the page it was
// at: earlier pages are committed, and a page applied twice changes nothing. When all containers
// are done it ends the doubt about the data, unless that has another reason by then: pages read
// from a store before another one was confirmed prove nothing.
//
// Not thread-safe.
class Reconciler {
 public:
  struct Parts {
    const Clock& system_clock;
    const GuardedClock& clock;
    Storage& storage;
    PrimaryStoreClient* store;  // null: none is configured
    Levers& levers;
    const PublishedSweep& published_sweep;
    PublishedReconciliation& published;
  };

  // Starts a rebuild if one is needed. All of `parts` must outlive this.
  Reconciler(const ReconcilerOptions& options, Parts parts);

  // One bounded step, which may wait for the store. Returns how long to wait before the next one.
  absl::Duration RunOnce();

 private:
  enum class Phase { kNextContainer, kScan, kUnseen };

  // The reconciliation in progress.
  struct Job {
    Reconciliation view;
    std::string doubt;  // about the data, when the job began
    Phase phase = Phase::kNextContainer;
    ContainerPtr container;  // the current one
    std::string page_token;
    std::optional<ItemKey> looked_at;  // last tracked item examined
    // Where an interrupted rebuild continues.
    std::optional<DataDoubt> resumed;
    // This process has not read all pages of the container, so it cannot tell which tracked items
    // the store lacks.
    bool is_partial = false;
    uint64_t to_resync = 0;  // the container that was left, whose feed is to be announced; 0: none
    int64_t page_items = 0;
    int failures = 0;  // consecutive ones
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
  absl::Status LogResync();
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
