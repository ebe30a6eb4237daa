#include "service/expiry/pace/adaptive_rate.h"

#include <algorithm>
#include <cmath>

namespace ttl {
namespace {

constexpr double kGrowthPerSecond = 1.2;

}  // namespace

std::optional<double> AdaptiveRate::Get(absl::Duration now) {
  if (!limit_.has_value()) return std::nullopt;
  const absl::Duration passed = std::max(now - limit_->since, absl::ZeroDuration());
  if (passed <= kRecovery) {
    const double share = absl::FDivDuration(passed, kRecovery);
    return limit_->cut + (limit_->before - limit_->cut) * share * share;
  }
  const double growth = std::pow(kGrowthPerSecond, absl::ToDoubleSeconds(passed - kRecovery));
  if (growth < 2) return limit_->before * growth;
  limit_.reset();
  return std::nullopt;
}

void AdaptiveRate::NoteSent(int64_t count, absl::Duration now) {
  sent_.Add(count, now);
  NotePeak(sent_.Get(now), now);
}

void AdaptiveRate::NoteDeleted(int64_t count, absl::Duration now) {
  deleted_.Add(count, now);
  NotePeak(deleted_.Get(now), now);
}

void AdaptiveRate::PushBack(absl::Duration now) {
  const double deleted = static_cast<double>(deleted_.Get(now));
  const std::optional<double> present = Get(now);
  const double before = RateBefore(deleted, now);
  const double cut = std::max(deleted / 2, kFloor);
  limit_ = {std::min(cut, present.value_or(cut)), before, now};
}

double AdaptiveRate::RateBefore(double deleted, absl::Duration now) {
  const std::optional<double> present = Get(now);
  if (!present.has_value()) {
    NotePeak(0, now);
    return std::max(static_cast<double>(std::max(peak_, last_peak_)), kFloor);
  }
  const bool is_new_trouble =
      now - limit_->since >= RecentCount::kWindow && deleted >= *present / 2;
  return is_new_trouble ? std::max(deleted, kFloor) : limit_->before;
}

void AdaptiveRate::NotePeak(int64_t count, absl::Duration now) {
  if (now - stretch_start_ >= kStretch) {
    last_peak_ = now - stretch_start_ < 2 * kStretch ? peak_ : 0;
    peak_ = 0;
    stretch_start_ = now;
  }
  peak_ = std::max(peak_, count);
}

}  // namespace ttl
