#include "service/core/state/usage_meter.h"

namespace ttl {
namespace {

// Reporters beyond kMaxReporters. No reporter of a client has such a name: it is not
// UTF-8.
constexpr absl::string_view kFurtherReporters = "\xFF";

}  // namespace

void UsageMeter::Report(uint64_t container, absl::string_view reporter, double request_units,
                        absl::Duration period, absl::Duration now) {
  const double rate = request_units / absl::ToDoubleSeconds(period);
  MutexLock lock(mutex_);
  Reporters& reporters = containers_[container];
  absl::erase_if(reporters,
                 [now](const auto& known) { return now - known.second.reported > kSilence; });
  const bool is_known = reporters.contains(reporter);
  if (is_known || reporters.size() < kMaxReporters) {
    reporters[reporter] = {rate, now};
    return;
  }
  Usage& further = reporters[kFurtherReporters];
  further = {further.units_per_second + rate, now};
}

std::optional<double> UsageMeter::RequestRate(uint64_t container, absl::Duration now) const {
  MutexLock lock(mutex_);
  const auto it = containers_.find(container);
  if (it == containers_.end()) return std::nullopt;
  std::optional<double> rate;
  for (const auto& [reporter, usage] : it->second) {
    if (now - usage.reported <= kSilence) rate = rate.value_or(0) + usage.units_per_second;
  }
  return rate;
}

void UsageMeter::Forget(uint64_t container) {
  MutexLock lock(mutex_);
  containers_.erase(container);
}

}  // namespace ttl
