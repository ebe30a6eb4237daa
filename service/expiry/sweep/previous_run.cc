#include "service/expiry/sweep/previous_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

// Invariant: the stored deadline is never shorter than that of any delete that may be in flight. A
// longer deadline is stored before the gate opens, a shorter one only after the deletes of earlier
// runs are settled. So a run that is killed while it waits leaves the time that the next run has to
// wait for.
namespace ttl {
namespace {

// The store's clock may be a little slow.
constexpr absl::Duration kMargin = absl::Milliseconds(250);

constexpr absl::Duration kRetry = absl::Seconds(1);

void TakePass(DeleteGate& gate, uint64_t container, std::vector<DeleteGate::Pass>& passes) {
  std::optional<DeleteGate::Pass> pass = gate.TryEnter(container);
  if (pass.has_value()) passes.push_back(*std::move(pass));
}

}  // namespace

absl::StatusOr<PreviousRun> PreviousRun::Begin(Storage& storage, const Clock& clock,
                                               absl::Duration delete_deadline) {
  TTL_ASSIGN_OR_RETURN(const std::optional<absl::Duration> kept,
                       storage.sidecar_state().LoadDeleteDeadline());
  PreviousRun previous_run(storage, clock, delete_deadline, kept);
  previous_run.Settle();
  return previous_run;
}

PreviousRun::PreviousRun(Storage& storage, const Clock& clock, absl::Duration delete_deadline,
                         std::optional<absl::Duration> kept)
    : storage_(&storage),
      clock_(&clock),
      delete_deadline_(delete_deadline),
      kept_(kept),
      // At least this run's: data of an older version, or of a backup, has no deadline.
      settled_(clock.Read().boot.value_or(absl::ZeroDuration()) +
               std::max(delete_deadline, kept.value_or(delete_deadline)) + kMargin) {
  DeleteGate& gate = storage.delete_gate();
  for (const ContainerPtr& container : storage.containers().All()) {
    TakePass(gate, container->number, passes_);
  }
  // Earlier runs may have had containers that are missing from data in doubt.
  if (storage.data_trust().in_doubt()) TakePass(gate, DeleteGate::kAllContainers, passes_);
  if (kept_.has_value() && *kept_ >= delete_deadline_) return;
  gate.Close(DeleteGate::kAllContainers, [] {});
  is_gate_closed_ = true;
}

absl::Duration PreviousRun::Settle() {
  if (is_gate_closed_) {
    if (!Keep(delete_deadline_)) return kRetry;
    storage_->delete_gate().Open(DeleteGate::kAllContainers);
    is_gate_closed_ = false;
  }
  if (!passes_.empty()) {
    // Without a clock reading no time can be said to have passed.
    const std::optional<absl::Duration> now = clock_->Read().boot;
    if (!now.has_value()) return kRetry;
    if (*now < settled_) return settled_ - *now;
    passes_.clear();
  }
  const bool is_kept = kept_ == delete_deadline_ || Keep(delete_deadline_);
  return is_kept ? absl::InfiniteDuration() : kRetry;
}

bool PreviousRun::Keep(absl::Duration deadline) {
  const absl::Status kept = Await<absl::Status>(
      [&](auto done) { storage_->sidecar_state().SaveDeleteDeadline(deadline, std::move(done)); });
  if (kept.ok()) {
    kept_ = deadline;
  } else {
    log_.Log(spdlog::level::warn, "deadline",
             absl::StrCat("delete deadline was not stored, will retry: error=",
                          Quoted(TextOf(kept), kMaxErrorBytes)),
             clock_->Read().boot.value_or(absl::ZeroDuration()));
  }
  return kept.ok();
}

}  // namespace ttl
