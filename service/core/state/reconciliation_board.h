#ifndef TTL_SERVICE_CORE_STATE_RECONCILIATION_BOARD_H_
#define TTL_SERVICE_CORE_STATE_RECONCILIATION_BOARD_H_

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"
#include "service/core/state/reconciliation.h"

namespace ttl {

// Where operators' calls ask for a reconciliation, and the reconciler takes the request
// and posts how far it is, so that the two need not know each other. In memory only.
// Thread-safe.
class ReconciliationBoard {
 public:
  // Notifies `wake` of a request or its end.
  explicit ReconciliationBoard(WakeSignal& wake) : wake_(wake) {}

  // Asks for a reconciliation, which is under way from now on. FAILED_PRECONDITION if one
  // is already.
  absl::Status Request(const ReconciliationRequest& request, absl::Time now) {
    {
      MutexLock lock(mutex_);
      if (last_.has_value() && last_->is_under_way()) {
        return absl::FailedPreconditionError(
            "a reconciliation is under way: wait for it, or cancel it");
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

  // Asks for the end of the one under way. FAILED_PRECONDITION if none is, or if it is a
  // rebuild.
  absl::Status Cancel() {
    {
      MutexLock lock(mutex_);
      if (!last_.has_value() || !last_->is_under_way()) {
        return absl::FailedPreconditionError("no reconciliation is under way");
      }
      if (last_->rebuild) {
        return absl::FailedPreconditionError(
            "what is tracked is being rebuilt, which cannot be cancelled; to do without, declare "
            "it whole (TrustData)");
      }
      cancelled_ = true;
      last_->state = ReconciliationState::kCancelled;
    }
    wake_.Notify();
    return absl::OkStatus();
  }

  // The one under way, or the last one; absent if there was none.
  std::optional<Reconciliation> View() const {
    MutexLock lock(mutex_);
    return last_;
  }

  // For the reconciler: the request not yet taken.
  std::optional<Reconciliation> Take() {
    MutexLock lock(mutex_);
    if (!std::exchange(requested_, false) || cancelled_) return std::nullopt;
    return last_;
  }

  // Posts how far it is. Returns false, and keeps it as cancelled, if its end was asked for;
  // or keeps the request that has come since.
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

#endif  // TTL_SERVICE_CORE_STATE_RECONCILIATION_BOARD_H_
