#ifndef TTL_SERVICE_EXPIRY_STORE_STORE_WATCH_H_
#define TTL_SERVICE_EXPIRY_STORE_STORE_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/wake_signal.h"
#include "service/core/state/store_trust.h"
#include "service/core/state/sweep_board.h"
#include "service/expiry/mailbox.h"
#include "service/expiry/moment.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/store/store_state.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/expiry_index.h"
#include "service/storage/sidecar_state.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// Keeps asking the primary store who it is, one GetStoreInfo at a time, and decides
// whether it may be sent deletes: it answers, and it is the store that the tracked
// items belong to. For one thread.
class StoreWatch {
 public:
  struct Options {
    absl::Duration deadline;  // of one GetStoreInfo
    absl::Duration max_clock_skew;
    // So many answers of NOT_FOUND in a row put the store in doubt: it may be an empty
    // replica. 0: never.
    int64_t not_found_burst_items = 0;
    // So many NOT_FOUND are excused if there was an earlier run of this process: deletes that it
    // may have had under way when it ended.
    int64_t excused_items = 0;
  };

  // All must outlive this; `store` may be null: then there is none to ask.
  StoreWatch(const Options& options, PrimaryStoreClient* store, SidecarState& sidecar_state,
             StoreTrust& trust, WakeSignal& wake);

  // Waits for the call under way.
  ~StoreWatch();

  // Asks the store, if it is time.
  void AskIfDue(const Moment& now);
  // Takes in its answer, if it is there. Returns whether it was.
  bool TakeInAnswer(const Moment& now);
  bool is_asking() const { return sent_.has_value(); }
  // Waits until nothing is asked any more.
  void AwaitAnswer();

  // The time to judge deletes by: none of our clocks, nor the store's, is behind it.
  absl::Time JudgeTime(const Moment& now) const;

  // A DeleteItems was answered; see StoreState.
  void TakeAnswer(const v1::DeleteItemsResponse& response, const Moment& sent,
                  const Moment& received);
  // A DeleteItems of `items` failed, and the store itself `answered` so or not.
  void TakeCallError(const absl::Status& error, bool answered, int64_t items);

  // So many deletes had no answer, or one that could not be kept. The store may have carried
  // them out, so that as many NOT_FOUND are excused.
  void NoteUnanswered(int64_t items);

  // Counts what became of deletes of `items`, in the order of the batch. That an item of an
  // earlier store epoch than `epoch` is not found says nothing: the store went back since, and
  // was read. Nor does one that the store has reported as gone since it was judged, which
  // `is_tracked` denies: the application may delete what has expired, too. Returns whether the
  // store is in doubt, so that its NOT_FOUND must not be believed.
  bool TakeOutcomes(const std::vector<DueItem>& items, const v1::DeleteItemsResponse& response,
                    uint64_t epoch, absl::FunctionRef<bool(const DueItem&)> is_tracked,
                    const Moment& now);

  StoreState& state() { return state_; }
  const StoreState& state() const { return state_; }
  // Whether deletes may be sent.
  bool IsReady() const { return state_.IsReady() && !state_.IsSkewTooLarge() && DoubtOf().empty(); }
  StoreView View(const Moment& now) const;

 private:
  void KeepOtherStoreId(const Moment& now);
  absl::Status TakeInfo(const absl::StatusOr<v1::GetStoreInfoResponse>& info, const Moment& now);
  // Why the store connected now is not to be trusted; empty if it is.
  std::string DoubtOf() const;

  const Options options_;
  PrimaryStoreClient* const store_;
  SidecarState& sidecar_state_;
  StoreTrust& trust_;
  StoreState state_;
  Mailbox<absl::StatusOr<v1::GetStoreInfoResponse>> answers_;
  std::optional<Moment> sent_;                 // of the call under way
  std::optional<std::string> other_store_id_;  // as kept
  int64_t not_found_in_a_row_ = 0;             // without the excused ones
  int64_t excused_;                            // that are still to come, at most
  TroubleLog log_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STORE_WATCH_H_
