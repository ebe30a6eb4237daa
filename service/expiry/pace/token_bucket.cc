#include "service/expiry/pace/token_bucket.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/time/time.h"

namespace ttl {
namespace {

// More tokens than anyone can use; keeps conversions from double to int64_t in range.
constexpr double kMaxTokens = 1e15;

std::optional<double> Sane(std::optional<double> rate) {
  if (!rate.has_value()) return std::nullopt;
  return *rate > 0 ? *rate : 0;  // NaN compares false
}

}  // namespace

TokenBucket::TokenBucket(std::optional<double> rate, absl::Duration now, int64_t max_batch)
    : max_batch_(max_batch), rate_(Sane(rate)), last_(now) {
  tokens_ = Capacity();
}

double TokenBucket::Capacity() const {
  if (!rate_.has_value()) return kMaxTokens;
  if (*rate_ == 0) return 0;
  const double batch = *rate_ * absl::ToDoubleSeconds(kBatchInterval);
  return std::clamp(std::min(batch, static_cast<double>(max_batch_)), 1.0, kMaxTokens);
}

void TokenBucket::Refill(absl::Duration now) {
  if (now <= last_) return;
  const double earned = rate_.has_value() ? *rate_ * absl::ToDoubleSeconds(now - last_) : 0;
  tokens_ = std::min(tokens_ + earned, Capacity());
  last_ = now;
}

void TokenBucket::SetRate(std::optional<double> rate, absl::Duration now) {
  Refill(now);
  rate_ = Sane(rate);
  tokens_ = std::min(tokens_, Capacity());
}

int64_t TokenBucket::BatchSize() const {
  if (!rate_.has_value()) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(Capacity());
}

int64_t TokenBucket::Available(absl::Duration now) {
  if (!rate_.has_value()) return BatchSize();
  Refill(now);
  return static_cast<int64_t>(tokens_);
}

absl::Duration TokenBucket::TimeUntil(int64_t count, absl::Duration now) {
  if (count <= Available(now)) return absl::ZeroDuration();
  if (*rate_ == 0) return absl::InfiniteDuration();
  const double missing = static_cast<double>(count) - tokens_;
  // Counted from last_, which is later than `now` if the clock went back. Rounded up by a
  // nanosecond, so that the tokens are available once the time has passed.
  return last_ - now + absl::Seconds(missing / *rate_) + absl::Nanoseconds(1);
}

void TokenBucket::Charge(double tokens, absl::Duration now) {
  if (!rate_.has_value() || !(tokens > 0)) return;
  Refill(now);
  const double most_debt = *rate_ * absl::ToDoubleSeconds(kMaxDebt);
  tokens_ = std::max(tokens_ - tokens, std::min(tokens_, -most_debt));
}

void TokenBucket::Take(int64_t count, absl::Duration now) {
  if (!rate_.has_value()) return;
  Refill(now);
  tokens_ -= static_cast<double>(count);
}

}  // namespace ttl
