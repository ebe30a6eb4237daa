#include "service/rpc/status/health.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

std::string SkewReason(const StoreView& store) {
  const std::string skew =
      store.clock_skew.has_value()
          ? absl::StrCat(", by ", absl::FormatDuration(absl::Trunc(
                                      absl::AbsDuration(*store.clock_skew), absl::Seconds(1))))
          : "";
  return absl::StrCat("Our clock and the primary store's are too far apart", skew,
                      ": deletes are suspended.");
}

}  // namespace

std::optional<absl::Duration> SweepStall(const SweeperView& sweeper, absl::Duration started,
                                         absl::Duration now) {
  const absl::Duration stall = now - sweeper.last_step.value_or(started);
  if (stall <= kSweepStall) return std::nullopt;
  return stall;
}

std::vector<std::string> DegradedReasons(const HealthInputs& in) {
  std::vector<std::string> reasons;
  if (in.sweep_stall.has_value()) reasons.push_back(StalledSweepReason(*in.sweep_stall));
  if (!in.write_health.ok()) {
    reasons.push_back(absl::StrCat("Storage refuses writes: ", in.write_health.message(), "."));
  }
  if (in.write_health.ok() && !in.report_health.ok()) {
    reasons.push_back(absl::StrCat("Reports are refused: ", in.report_health.message(), "."));
  }
  for (const std::string& problem : in.storage_problems) {
    reasons.push_back(absl::StrCat("Stored data is damaged: ", problem, "."));
  }
  if (!in.data_doubt.empty()) {
    reasons.push_back(absl::StrCat("The tracked items may be incomplete: ", in.data_doubt, "."));
  }
  if (in.clock.suspect) {
    reasons.push_back(absl::StrCat("The clock is suspect: ", in.clock.reason, "."));
  }
  reasons.insert(reasons.end(), in.troubles.begin(), in.troubles.end());
  if (!in.store.unconfirmed.empty()) {
    reasons.push_back(
        absl::StrCat("The primary store has to be confirmed: ", in.store.unconfirmed, "."));
  }
  if (!in.store.configured) return reasons;
  if (!in.store.reachable && !in.store.last_error.empty()) {
    reasons.push_back(
        absl::StrCat("The primary store cannot be reached: ", in.store.last_error, "."));
  }
  if (in.store.skew_too_large) reasons.push_back(SkewReason(in.store));
  return reasons;
}

std::string StalledSweepReason(absl::Duration stall) {
  return absl::StrCat("The sweeper has taken no step for ", absl::ToInt64Seconds(stall),
                      " s: nothing is deleted.");
}

}  // namespace ttl
