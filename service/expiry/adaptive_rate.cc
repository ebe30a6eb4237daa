#include "service/expiry/adaptive_rate.h"

#include <algorithm>

namespace ttl {

std::optional<double> AdaptiveRate::Get(absl::Duration now) {
  while (bearable_.has_value() && now - last_change_ >= kStep) {
    last_change_ += kStep;
    // The one added lets it leave the floor.
    *bearable_ = *bearable_ * kGrowthPerStep + 1;
    if (*bearable_ >= 2 * before_) bearable_.reset();
  }
  return bearable_;
}

void AdaptiveRate::NoteSent(int64_t count, absl::Duration now) {
  MoveWindow(now);
  sent_in_window_ += count;
}

void AdaptiveRate::PushBack(absl::Duration now) {
  Get(now);
  MoveWindow(now);
  if (bearable_.has_value() && now - last_cut_ < kStep) return;
  double present = std::max(last_window_rate_,
                            static_cast<double>(sent_in_window_) / absl::ToDoubleSeconds(kStep));
  if (bearable_.has_value()) {
    present = std::min(present, *bearable_);
  } else {
    before_ = std::max(present, kFloor);
  }
  bearable_ = std::max(present / 2, kFloor);
  last_cut_ = last_change_ = now;
}

void AdaptiveRate::MoveWindow(absl::Duration now) {
  const absl::Duration passed = now - window_start_;
  if (passed < kStep) return;
  const bool was_the_last = passed < 2 * kStep;
  last_window_rate_ =
      was_the_last ? static_cast<double>(sent_in_window_) / absl::ToDoubleSeconds(kStep) : 0;
  sent_in_window_ = 0;
  window_start_ = now;
}

}  // namespace ttl
