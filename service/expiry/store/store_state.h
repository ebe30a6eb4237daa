#ifndef TTL_SERVICE_EXPIRY_STORE_STORE_STATE_H_
#define TTL_SERVICE_EXPIRY_STORE_STORE_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/state/published_sweep.h"
#include "service/expiry/moment.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// What the sweeper knows about the primary store: its identity and capabilities, its clock, and
// whether it can be reached. Pure: time is an argument. Not thread-safe.
class StoreState {
 public:
  static constexpr absl::Duration kInfoInterval = absl::Seconds(30);
  // Interval of GetStoreInfo while the store does not answer; its return is noticed within this
  // time.
  static constexpr absl::Duration kProbeInterval = absl::Seconds(1);

  // Deletes are suspended while the clocks differ by more than `max_clock_skew`, either way.
  explicit StoreState(absl::Duration max_clock_skew) : max_clock_skew_(max_clock_skew) {}

  // Whether GetStoreInfo should be called: before the first delete, after errors that cast doubt on
  // the reachability or identity of the store, and every kInfoInterval, or every kProbeInterval
  // while its clock is too far from ours.
  bool IsInfoDue(absl::Duration steady) const;

  // Whether the store has answered GetStoreInfo and has not become unreachable since.
  bool IsReady() const { return has_info_ && reachable_; }

  // INVALID_ARGUMENT, naming the field, if the answer to GetStoreInfo is not valid.
  static absl::Status ValidateInfo(const v1::GetStoreInfoResponse& info);

  // Applies a valid answer to a GetStoreInfo call that was sent at `sent`.
  void TakeInfo(const v1::GetStoreInfoResponse& info, const Moment& sent, const Moment& received);

  // GetStoreInfo failed, or its answer is not valid. IsReady() is false until one succeeds.
  void TakeInfoError(const absl::Status& error, const Moment& now);

  // Applies the answer to a DeleteItems call. INTERNAL if its store_now is too far from our clock:
  // a single such value is not believed, and IsReady() is false until GetStoreInfo has given the
  // store's clock.
  absl::Status TakeAnswer(const v1::DeleteItemsResponse& response, const Moment& sent,
                          const Moment& received);

  // A DeleteItems call failed. IsReady() is false until the next GetStoreInfo if the store itself
  // did not answer, or answered FAILED_PRECONDITION, by which it says that it is another store.
  void TakeCallError(const absl::Status& error, bool answered);

  // Makes GetStoreInfo due; deletes go on meanwhile.
  void AskSoon() { next_probe_ = -absl::InfiniteDuration(); }

  // When GetStoreInfo is next due, steady.
  absl::Duration next_probe() const { return next_probe_; }

  // A lower bound of the store's clock; absent before the first answer.
  std::optional<absl::Time> Now(absl::Duration steady) const;

  // Maximum items of a batch: the lower of `most` and the store's max_batch_items.
  int64_t MaxBatchItems(int64_t most) const;

  bool compares_etags() const { return compares_etags_; }
  bool knows_expire_at() const { return knows_expire_at_; }
  // Whether the store's clock, as last reported, is too far from ours.
  bool IsSkewTooLarge() const { return skew_.has_value() && IsTooLarge(*skew_); }
  // Empty before the first answer.
  const std::string& store_id() const { return store_id_; }

  // For status and metrics. `configured`: whether a store is configured.
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
  bool knows_expire_at_ = false;

  // A reading of the store's clock, assumed to be as late as `steady`.
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
