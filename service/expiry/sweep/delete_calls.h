#ifndef TTL_SERVICE_EXPIRY_SWEEP_DELETE_CALLS_H_
#define TTL_SERVICE_EXPIRY_SWEEP_DELETE_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/wake_signal.h"
#include "service/core/container.h"
#include "service/expiry/mailbox.h"
#include "service/expiry/moment.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/sweep/judged_batch.h"
#include "service/storage/delete_gate.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// A call of DeleteItems, under way or ended.
struct DeleteCall {
  ContainerPtr container;
  JudgedBatch batch;
  DeleteGate::Pass pass;  // given back when the outcome is known and applied
  Moment sent;
  bool in_trouble = false;  // the container's last batch had failed
  absl::StatusOr<v1::DeleteItemsResponse> response = absl::UnknownError("under way");
};

// The calls of DeleteItems under way: at most one per container and so many in all, of
// which containers in trouble get no more than half, so that those whose calls hang
// leave room for the others. For one thread.
class DeleteCalls {
 public:
  // `store` may be null if nothing is ever sent; both must outlive this. `max_calls`
  // is at least 1.
  DeleteCalls(PrimaryStoreClient* store, int64_t max_calls, absl::Duration deadline,
              WakeSignal& wake);

  // Waits for the calls under way.
  ~DeleteCalls();

  bool HasRoom() const { return count() < max_calls_; }
  // Whether there is room for a call for a container that is in trouble or not.
  bool HasRoomFor(bool in_trouble) const;
  bool IsUnderWay(uint64_t container) const { return under_way_.contains(container); }
  int64_t count() const { return static_cast<int64_t>(under_way_.size()); }

  // REQUIRES: HasRoomFor(call.in_trouble), no call for the container is under way, and
  // there is a store.
  void Send(DeleteCall call);

  // Calls that have ended since, in that order.
  std::vector<std::unique_ptr<DeleteCall>> TakeEnded();

  // Waits until at least one call has ended; returns at once if none is under way.
  void AwaitOne();

  // Deletes whose fate is not known may be carried out until their not_after: keeps
  // the pass until then.
  void KeepUntilSettled(DeleteCall& call);
  void ReleaseSettled(absl::Duration now);
  // When the next pass is given back, steady; infinite if none is kept.
  absl::Duration NextSettled() const;

 private:
  struct Unsettled {
    DeleteGate::Pass pass;
    absl::Duration settled;  // steady
  };

  PrimaryStoreClient* const store_;
  const int64_t max_calls_;
  const absl::Duration deadline_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<DeleteCall>> under_way_;  // by container number
  int64_t in_trouble_ = 0;                                                // of those
  std::deque<Unsettled> unsettled_;                                       // by `settled`
  Mailbox<uint64_t> ended_;                                               // container numbers
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_DELETE_CALLS_H_
