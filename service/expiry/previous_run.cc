#include "service/expiry/previous_run.h"

#include <optional>
#include <utility>

namespace ttl {
namespace {

// For the little that the store's clock may be slow by.
constexpr absl::Duration kMargin = absl::Milliseconds(250);

}  // namespace

PreviousRun::PreviousRun(Storage& storage, const Clock& clock, absl::Duration delete_deadline)
    : clock_(clock),
      settled_(clock.Read().boot.value_or(absl::ZeroDuration()) + delete_deadline + kMargin) {
  for (const ContainerPtr& container : storage.containers().All()) {
    std::optional<DeleteGate::Pass> pass = storage.delete_gate().TryEnter(container->number);
    if (pass.has_value()) passes_.push_back(*std::move(pass));
  }
}

absl::Duration PreviousRun::Settle() {
  if (passes_.empty()) return absl::InfiniteDuration();
  // Without a reading no time is known to have passed.
  const std::optional<absl::Duration> now = clock_.Read().boot;
  if (!now.has_value()) return absl::Seconds(1);
  if (*now < settled_) return settled_ - *now;
  passes_.clear();
  return absl::InfiniteDuration();
}

}  // namespace ttl
