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
#include "service/expiry/sweep/call_traces.h"
#include "service/expiry/sweep/judged_batch.h"
#include "service/storage/delete_gate.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// A DeleteItems call, in flight or ended.
struct DeleteCall {
  ContainerPtr container;
  JudgedBatch batch;
  DeleteGate::Pass pass;  // held until the outcomes are committed
  Moment sent;
  bool in_trouble = false;  // the container's last batch failed
  bool after_slow = false;  // the container's last batch showed that the store is slow
  CallTrace trace = {};     // set by Send()
  absl::StatusOr<v1::DeleteItemsResponse> response = absl::UnknownError("in flight");
};

// The DeleteItems calls in flight: at most one per container and `max_calls` in total. Containers
// whose last batch failed get at most half of them, so that calls that hang leave room for the
// other containers. Not thread-safe.
class DeleteCalls {
 public:
  // `store` may be null if nothing is ever sent. `store` and `wake` must outlive this; `wake` is
  // notified when a call ends. `max_calls` is at least 1; `deadline` applies to each call.
  DeleteCalls(PrimaryStoreClient* store, int64_t max_calls, absl::Duration deadline,
              WakeSignal& wake);

  // Waits for the calls in flight.
  ~DeleteCalls();

  bool HasRoom() const { return count() < max_calls_; }
  // Whether another call fits, given whether its container's last batch failed.
  bool HasRoomFor(bool in_trouble) const;
  bool IsInFlight(uint64_t container) const { return in_flight_.contains(container); }
  int64_t count() const { return static_cast<int64_t>(in_flight_.size()); }

  // REQUIRES: HasRoomFor(call.in_trouble), no call for the container is in flight, and the store is
  // not null.
  void Send(DeleteCall call);

  // Removes and returns the calls that have ended, in the order in which they did.
  std::vector<std::unique_ptr<DeleteCall>> TakeEnded();

  // Waits until at least one call has ended; returns at once if none is in flight.
  void AwaitOne();

  // Keeps the pass of a call whose outcome is unknown: the store may still carry out its deletes
  // until their not_after.
  void KeepUntilSettled(DeleteCall& call);
  // Gives back the passes whose not_after has passed. `now` is steady.
  void ReleaseSettled(absl::Duration now);
  // When the next pass can be given back, steady; infinite if none is kept.
  absl::Duration NextSettled() const;

 private:
  struct Unsettled {
    DeleteGate::Pass pass;
    absl::Duration settled;  // steady
  };

  PrimaryStoreClient* const store_;
  const int64_t max_calls_;
  const absl::Duration deadline_;
  CallTraces traces_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<DeleteCall>> in_flight_;  // by container number
  int64_t in_trouble_ = 0;                                                // of those
  std::deque<Unsettled> unsettled_;                                       // by `settled`
  Mailbox<uint64_t> ended_;                                               // container numbers
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_DELETE_CALLS_H_
