#ifndef TTL_SERVICE_EXPIRY_STORE_STATE_H_
#define TTL_SERVICE_EXPIRY_STORE_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/sweep_board.h"
#include "service/expiry/moment.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// What the sweeper knows of the primary store: who it is and what it can do, how its
// clock runs, and whether it wants to be left alone. Pure: time is an argument.
// Not thread-safe.
class StoreState {
 public:
  static constexpr absl::Duration kInfoInterval = absl::Seconds(30);
  // Hold after a failure, doubled by each further one in a row, up to the most.
  static constexpr absl::Duration kFirstHold = absl::Seconds(1);
  static constexpr absl::Duration kMostHold = absl::Seconds(30);
  // The longest retry_after that is honoured.
  static constexpr absl::Duration kMostRetryAfter = absl::Hours(1);

  // `max_clock_skew`: with more, either way, deletes wait.
  explicit StoreState(absl::Duration max_clock_skew) : max_clock_skew_(max_clock_skew) {}

  // Whether GetStoreInfo should be called: before the first delete, after errors,
  // and every kInfoInterval.
  bool IsInfoDue(absl::Duration steady) const;

  // OK, or why the answer to GetStoreInfo cannot be worked with.
  static absl::Status ValidateInfo(const v1::GetStoreInfoResponse& info);

  // Takes over a valid answer to a GetStoreInfo that was sent at `sent`.
  void TakeInfo(const v1::GetStoreInfoResponse& info, const Moment& sent, const Moment& received);

  // Takes note of the answer to a DeleteItems. `throttled`: some deletes were put off
  // by the store.
  void TakeAnswer(const v1::DeleteItemsResponse& response, bool throttled, const Moment& sent,
                  const Moment& received);

  // A call failed, or its answer was of no use. The store is held for a growing time if
  // `hold`. `answered`: there was an answer, so the store can be reached.
  void TakeError(const absl::Status& error, bool answered, bool hold, const Moment& now);

  // Whether no call is to be made now.
  bool IsHeld(absl::Duration steady) const { return steady < held_until_; }
  absl::Duration held_until() const { return held_until_; }

  // The least that the store's clock can show now; absent before the first answer.
  std::optional<absl::Time> Now(absl::Duration steady) const;

  // Most items of one batch: what the store said, or `most`.
  int64_t MaxBatchItems(int64_t most) const;

  bool compares_etags() const { return compares_etags_; }

  // For people. `configured`: there is a store at all.
  StoreView View(bool configured, const Moment& now) const;

 private:
  void TakeClock(absl::Time store_now, const Moment& sent, const Moment& received);
  void Hold(absl::Duration duration, absl::Duration steady);

  const absl::Duration max_clock_skew_;

  bool info_due_ = true;
  absl::Duration info_time_;  // steady, of the last answer
  std::string store_id_;
  int64_t max_batch_items_ = 0;  // 0: no limit
  bool compares_etags_ = false;

  // What the store's clock showed, at the latest, at a steady time.
  struct ClockSample {
    absl::Time store_now;
    absl::Duration steady;
  };
  std::optional<ClockSample> clock_;
  std::optional<absl::Duration> skew_;  // ours minus the store's

  int64_t failures_ = 0;  // in a row, push-back included
  absl::Duration held_until_ = -absl::InfiniteDuration();
  bool reachable_ = false;
  std::string last_error_;
  std::optional<absl::Time> last_success_time_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STATE_H_
