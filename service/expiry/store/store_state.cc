#include "service/expiry/store/store_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/proto_time.h"
#include "service/base/time_text.h"

namespace ttl {
namespace {

constexpr size_t kMaxStoreIdBytes = 256;
// An answer that took longer is too imprecise to replace a clock reading.
constexpr absl::Duration kMaxClockDelay = absl::Seconds(1);

// Our clock minus the store's, which was read between `sent` and `received`.
absl::Duration SkewOf(absl::Time store_now, const Moment& sent, const Moment& received) {
  return (sent.time.now + (received.time.now - sent.time.now) / 2) - store_now;
}

}  // namespace

bool StoreState::IsInfoDue(absl::Duration steady) const { return steady >= next_probe_; }

absl::Status StoreState::ValidateInfo(const v1::GetStoreInfoResponse& info) {
  if (info.store_id().empty() || info.store_id().size() > kMaxStoreIdBytes) {
    return absl::InvalidArgumentError(absl::StrCat("GetStoreInfo: store_id has ",
                                                   info.store_id().size(),
                                                   " bytes: must have 1 to ", kMaxStoreIdBytes));
  }
  if (!info.has_now()) {
    return absl::InvalidArgumentError("GetStoreInfo: now is missing: must be the store's clock");
  }
  if (info.max_batch_items() < 0) {
    return absl::InvalidArgumentError(absl::StrCat("GetStoreInfo: max_batch_items is ",
                                                   info.max_batch_items(),
                                                   ": must be 0 (no limit) or more"));
  }
  return absl::OkStatus();
}

void StoreState::TakeInfo(const v1::GetStoreInfoResponse& info, const Moment& sent,
                          const Moment& received) {
  store_id_ = info.store_id();
  max_batch_items_ = info.max_batch_items();
  const auto can = [&info](v1::StoreCapability capability) {
    return std::count(info.capabilities().begin(), info.capabilities().end(), capability) > 0;
  };
  compares_etags_ = can(v1::STORE_CAPABILITY_ETAG);
  knows_expire_at_ = can(v1::STORE_CAPABILITY_EXPIRE_AT);
  clock_.reset();
  TakeClock(FromProto(info.now()), sent, received);
  next_probe_ = received.steady + (IsTooLarge(*skew_) ? kProbeInterval : kInfoInterval);
  has_info_ = true;
  reachable_ = true;
  last_error_.clear();
  last_success_ = received.steady;
}

void StoreState::TakeInfoError(const absl::Status& error, const Moment& now) {
  next_probe_ = now.steady + kProbeInterval;
  has_info_ = false;
  reachable_ =
      !absl::IsUnavailable(error) && !absl::IsDeadlineExceeded(error) && !absl::IsCancelled(error);
  last_error_ = error.ToString(absl::StatusToStringMode::kWithNoExtraData);
}

absl::Status StoreState::TakeAnswer(const v1::DeleteItemsResponse& response, const Moment& sent,
                                    const Moment& received) {
  last_success_ = received.steady;
  if (reachable_) last_error_.clear();
  if (!response.has_store_now()) return absl::OkStatus();
  const absl::Time store_now = FromProto(response.store_now());
  const absl::Duration skew = SkewOf(store_now, sent, received);
  if (!IsTooLarge(skew)) {
    TakeClock(store_now, sent, received);
    return absl::OkStatus();
  }
  const absl::Status error = absl::InternalError(
      absl::StrCat("DeleteItems: store_now is ", TimeText(store_now), ": must be within ",
                   absl::FormatDuration(max_clock_skew_), " of our clock"));
  AskAgain(error);
  return error;
}

void StoreState::TakeCallError(const absl::Status& error, bool answered) {
  if (!answered) reachable_ = false;
  if (!answered || absl::IsFailedPrecondition(error)) return AskAgain(error);
  last_error_ = error.ToString(absl::StatusToStringMode::kWithNoExtraData);
}

void StoreState::AskAgain(const absl::Status& error) {
  last_error_ = error.ToString(absl::StatusToStringMode::kWithNoExtraData);
  has_info_ = false;
  next_probe_ = -absl::InfiniteDuration();
}

std::optional<absl::Time> StoreState::Now(absl::Duration steady) const {
  if (!clock_.has_value()) return std::nullopt;
  return clock_->store_now + (steady - clock_->steady);
}

int64_t StoreState::MaxBatchItems(int64_t most) const {
  return max_batch_items_ == 0 ? most : std::min(max_batch_items_, most);
}

StoreView StoreState::View(bool configured, const Moment& now) const {
  StoreView view;
  view.configured = configured;
  view.reachable = reachable_;
  view.knows_expire_at = knows_expire_at_;
  view.store_id = store_id_;
  view.clock_skew = skew_;
  view.skew_too_large = IsSkewTooLarge();
  view.last_error = last_error_;
  // Computed from the present time: the clock may have been wrong then.
  if (last_success_.has_value()) {
    view.last_success_time = now.time.now - (now.steady - *last_success_);
  }
  if (!IsReady() && next_probe_ > now.steady) {
    view.held_until = now.time.for_deletes + (next_probe_ - now.steady);
  }
  return view;
}

// The store read its clock at some time between `sent` and `received`. Assuming the latter makes
// the store's clock appear as slow as it can be, which only ever defers deletes.
void StoreState::TakeClock(absl::Time store_now, const Moment& sent, const Moment& received) {
  const absl::Duration delay = received.steady - sent.steady;
  if (clock_.has_value() && delay > kMaxClockDelay) return;
  clock_ = {store_now, received.steady};
  skew_ = SkewOf(store_now, sent, received);
}

}  // namespace ttl
