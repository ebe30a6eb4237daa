#ifndef TTL_SERVICE_EXPIRY_STORE_STORE_STATE_H_
#define TTL_SERVICE_EXPIRY_STORE_STORE_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/state/sweep_board.h"
#include "service/expiry/moment.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// What the sweeper knows of the primary store: who it is and what it can do, how its
// clock runs, and whether it can be reached. Pure: time is an argument. Not
// thread-safe.
class StoreState {
 public:
  static constexpr absl::Duration kInfoInterval = absl::Seconds(30);
  // Between two looks at a store that does not answer; so it is found again within
  // this time.
  static constexpr absl::Duration kProbeInterval = absl::Seconds(1);

  // `max_clock_skew`: with more, either way, deletes wait.
  explicit StoreState(absl::Duration max_clock_skew) : max_clock_skew_(max_clock_skew) {}

  // Whether GetStoreInfo should be called: before the first delete, after errors that
  // make it doubtful whether and which store is there, and every kInfoInterval, or every
  // kProbeInterval while its clock is too far from ours.
  bool IsInfoDue(absl::Duration steady) const;

  // Whether deletes may be sent: the store has said who it is, and has been reached
  // since.
  bool IsReady() const { return has_info_ && reachable_; }

  // OK, or why the answer to GetStoreInfo cannot be worked with.
  static absl::Status ValidateInfo(const v1::GetStoreInfoResponse& info);

  // Takes over a valid answer to a GetStoreInfo that was sent at `sent`.
  void TakeInfo(const v1::GetStoreInfoResponse& info, const Moment& sent, const Moment& received);

  // GetStoreInfo failed, or its answer is not valid: nothing is sent until one is.
  void TakeInfoError(const absl::Status& error, const Moment& now);

  // Takes note of the answer to a DeleteItems. Not OK if the clock that it shows is too far from
  // ours: one such answer is not believed, and nothing more is sent until GetStoreInfo has told
  // the store's clock.
  absl::Status TakeAnswer(const v1::DeleteItemsResponse& response, const Moment& sent,
                          const Moment& received);

  // A DeleteItems failed. Unless it was `answered`, and not with FAILED_PRECONDITION, by which a
  // store says that it is another one, nothing more is sent until GetStoreInfo is.
  void TakeCallError(const absl::Status& error, bool answered);

  // GetStoreInfo is due now; deletes go on meanwhile.
  void AskSoon() { next_probe_ = -absl::InfiniteDuration(); }

  // Until when no GetStoreInfo is to be tried again, steady.
  absl::Duration next_probe() const { return next_probe_; }

  // The least that the store's clock can show now; absent before the first answer.
  std::optional<absl::Time> Now(absl::Duration steady) const;

  // Most items of one batch: what the store said, or `most`.
  int64_t MaxBatchItems(int64_t most) const;

  bool compares_etags() const { return compares_etags_; }
  // Whether its clock, as last told, is too far from ours.
  bool IsSkewTooLarge() const { return skew_.has_value() && IsTooLarge(*skew_); }
  // Empty before the first answer.
  const std::string& store_id() const { return store_id_; }

  // For people. `configured`: there is a store at all.
  StoreView View(bool configured, const Moment& now) const;

 private:
  void TakeClock(absl::Time store_now, const Moment& sent, const Moment& received);
  void AskAgain(const absl::Status& error);
  bool IsTooLarge(absl::Duration skew) const { return absl::AbsDuration(skew) > max_clock_skew_; }

  const absl::Duration max_clock_skew_;

  bool has_info_ = false;
  bool reachable_ = false;
  absl::Duration next_probe_ = -absl::InfiniteDuration();
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

  std::string last_error_;
  std::optional<absl::Duration> last_success_;  // steady
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STORE_STATE_H_
