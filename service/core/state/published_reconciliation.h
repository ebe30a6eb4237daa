#ifndef TTL_SERVICE_CORE_STATE_PUBLISHED_RECONCILIATION_H_
#define TTL_SERVICE_CORE_STATE_PUBLISHED_RECONCILIATION_H_

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "service/base/error_details.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"
#include "service/core/state/reconciliation.h"

namespace ttl {

// Passes requests for a reconciliation from operators' calls to the reconciler, and publishes its
// progress, so that the two need not know each other. In memory only. Thread-safe.
class PublishedReconciliation {
 public:
  // `wake` is notified of a request and of a cancellation, and must outlive this.
  explicit PublishedReconciliation(WakeSignal& wake) : wake_(wake) {}

  // Requests a reconciliation, which counts as running from now on. FAILED_PRECONDITION if one is
  // running.
  absl::Status Request(const ReconciliationRequest& request, absl::Time now) {
    {
      MutexLock lock(mutex_);
      if (last_.has_value() && last_->is_under_way()) {
        return MakeError(Reason::kReconciliationRunning,
                         "a reconciliation is running: wait for it, or cancel it");
      }
      last_ = Reconciliation();
      last_->request = request;
      last_->start_time = now;
      requested_ = true;
      cancelled_ = false;
    }
    wake_.Notify();
    return absl::OkStatus();
  }

  // Requests the end of the running reconciliation. FAILED_PRECONDITION if none is running, or if
  // it is a rebuild.
  absl::Status Cancel() {
    {
      MutexLock lock(mutex_);
      if (!last_.has_value() || !last_->is_under_way()) {
        return MakeError(Reason::kReconciliationNotRunning, "no reconciliation is running");
      }
      if (last_->rebuild) {
        return MakeError(
            Reason::kRebuildRunning,
            "the tracked data is being rebuilt, which cannot be cancelled; to do without a "
            "rebuild, "
            "declare the data complete (TrustData)");
      }
      cancelled_ = true;
      last_->state = ReconciliationState::kCancelled;
    }
    wake_.Notify();
    return absl::OkStatus();
  }

  // The running reconciliation, or the last one; absent if there was none.
  std::optional<Reconciliation> View() const {
    MutexLock lock(mutex_);
    return last_;
  }

  // For the reconciler: returns the request, once; absent if there is no new one.
  std::optional<Reconciliation> Take() {
    MutexLock lock(mutex_);
    if (!std::exchange(requested_, false) || cancelled_) return std::nullopt;
    return last_;
  }

  // For the reconciler: publishes its progress. Returns false if it must stop, because it was
  // cancelled or a newer request has arrived.
  bool Post(Reconciliation reconciliation) {
    MutexLock lock(mutex_);
    if (requested_ && !reconciliation.rebuild) return false;
    if (cancelled_ && !reconciliation.rebuild)
      reconciliation.state = ReconciliationState::kCancelled;
    last_ = std::move(reconciliation);
    return last_->state != ReconciliationState::kCancelled;
  }

 private:
  WakeSignal& wake_;
  mutable Mutex mutex_;
  std::optional<Reconciliation> last_ ABSL_GUARDED_BY(mutex_);
  bool requested_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_PUBLISHED_RECONCILIATION_H_
