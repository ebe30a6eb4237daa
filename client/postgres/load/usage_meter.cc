#include "client/postgres/load/usage_meter.h"

#include <algorithm>

namespace ttl::postgres {
namespace {

// Rows of ours that stay missing from the statistics are forgotten over this time. An idle session
// reports its counts after at most ten seconds; rows still missing then were overcounted.
constexpr absl::Duration kForgiven = absl::Seconds(20);

}  // namespace

int64_t UsageMeter::Read(int64_t all, int64_t own, absl::Duration elapsed) {
  const bool is_first = !last_.has_value() || all < last_->all || own < last_->own;
  const Reading last = is_first ? Reading{all, own} : *last_;
  last_ = Reading{all, own};
  if (is_first) owed_ = 0;
  owed_ *= 1 - std::clamp(absl::FDivDuration(elapsed, kForgiven), 0.0, 1.0);
  owed_ += static_cast<double>(own - last.own);
  const int64_t grown = all - last.all;
  const int64_t paid = std::min(grown, static_cast<int64_t>(owed_));
  owed_ -= static_cast<double>(paid);
  return grown - paid;
}

}  // namespace ttl::postgres
