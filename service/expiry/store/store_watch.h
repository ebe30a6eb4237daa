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
#include "service/core/state/published_sweep.h"
#include "service/expiry/mailbox.h"
#include "service/expiry/moment.h"
#include "service/expiry/store/primary_store_client.h"
#include "service/expiry/store/store_state.h"
#include "service/expiry/trouble_log.h"
#include "service/storage/expiry_index.h"
#include "service/storage/levers.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// Polls the primary store with GetStoreInfo, one call at a time, and decides whether it may be sent
// deletes: it must answer, its clock must agree with ours, and it must be the store that the
// tracked items belong to. Not thread-safe.
class StoreWatch {
 public:
  struct Options {
    absl::Duration deadline;  // of a GetStoreInfo call
    absl::Duration max_clock_skew;
    // This many consecutive NOT_FOUND answers put the store in doubt: it may be an empty replica.
    // 0: never.
    int64_t not_found_burst_items = 0;
    // If there was an earlier run of this process: how many NOT_FOUND answers its deletes may
    // explain, if it ended while they were in flight.
    int64_t excused_items = 0;
  };

  // All must outlive this. `store` is null if none is configured. `wake` is notified when an answer
  // has arrived.
  StoreWatch(const Options& options, PrimaryStoreClient* store, Levers& levers, WakeSignal& wake);

  // Waits for the call in flight.
  ~StoreWatch();

  // Sends GetStoreInfo if it is due and none is in flight.
  void AskIfDue(const Moment& now);
  // Takes the answer that has arrived, if any, out of the mailbox. TakeInAnswer() handles it.
  void CollectAnswer();
  bool has_answer() const { return answer_.has_value(); }
  // Handles the collected answer at `now`, which must not be earlier than CollectAnswer(). Returns
  // whether there was one. May wait for a commit.
  bool TakeInAnswer(const Moment& now);
  bool is_asking() const { return sent_.has_value(); }
  // Waits until no call is in flight; its answer remains to be collected.
  void AwaitAnswer();

  // The time to judge deletes by: the earliest of our clocks and the store's.
  absl::Time JudgeTime(const Moment& now) const;

  // A DeleteItems call was answered; see StoreState.
  void TakeAnswer(const v1::DeleteItemsResponse& response, const Moment& sent,
                  const Moment& received);
  // A DeleteItems call of `items` items failed. `answered`: the error came from the store itself.
  void TakeCallError(const absl::Status& error, bool answered, int64_t items);

  // `items` deletes had no answer, or one that was not committed. The store may have carried them
  // out, so as many NOT_FOUND answers do not count as suspicious.
  void NoteUnanswered(int64_t items);

  // Looks for a burst of NOT_FOUND in the answer to a batch of `items`. Not counted are:
  // - an item of an earlier store epoch than `epoch`: the store was restored since, and rescanned;
  // - an item for which `is_tracked` is false: it was untracked or rewritten since it was judged,
  //   because the application may delete expired items, too.
  // Returns whether the store is in doubt, so that its NOT_FOUND answers must not be believed. May
  // wait for a commit.
  bool TakeOutcomes(const std::vector<DueItem>& items, const v1::DeleteItemsResponse& response,
                    uint64_t epoch, absl::FunctionRef<bool(const DueItem&)> is_tracked,
                    const Moment& now);

  StoreState& state() { return state_; }
  const StoreState& state() const { return state_; }
  // Whether deletes may be sent.
  bool IsReady() const { return state_.IsReady() && !state_.IsSkewTooLarge() && DoubtOf().empty(); }
  StoreView View(const Moment& now) const;

 private:
  absl::Status TakeInfo(const absl::StatusOr<v1::GetStoreInfoResponse>& info, const Moment& now);
  // Why the connected store must not be trusted; empty if it may be.
  std::string DoubtOf() const;

  const Options options_;
  PrimaryStoreClient* const store_;
  Levers& levers_;
  StoreState state_;
  Mailbox<absl::StatusOr<v1::GetStoreInfoResponse>> answers_;
  std::optional<absl::StatusOr<v1::GetStoreInfoResponse>> answer_;  // collected
  std::optional<Moment> sent_;      // when the call in flight was sent
  int64_t not_found_in_a_row_ = 0;  // without excused ones
  int64_t excused_;                 // NOT_FOUND answers that still are to be excused
  TroubleLog log_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STORE_WATCH_H_
