#include "service/rpc/status/overdue_watch.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "service/base/quoted.h"
#include "service/core/delete_holds.h"
#include "service/core/due_rules.h"
#include "service/rpc/status/delete_explanation.h"

namespace ttl {
namespace {

// A container in which nothing is overdue costs no disk read.
constexpr size_t kContainersPerStep = 2000;

std::string Span(absl::Duration span) {
  return absl::FormatDuration(absl::Trunc(span, absl::Seconds(1)));
}

// Whether an operator or a policy holds deletes back, or limits them so much that none need have
// succeeded.
bool IsHeldOnPurpose(const ExpiryView::Freedom& freedom) {
  if (std::any_of(freedom.holds.begin(), freedom.holds.end(), IsChosen)) return true;
  const double within = absl::ToDoubleSeconds(OverdueWatch::kNoSuccess);
  return freedom.rates.limit.has_value() && *freedom.rates.limit * within < 2;
}

}  // namespace

void OverdueWatch::RunOnce() {
  const ExpiryView::Snapshot snapshot = view_.TakeSnapshot();
  if (!snapshot.steady.has_value()) return;
  const std::vector<ContainerPtr> containers =
      parts_.storage.containers().List(last_looked_at_, kContainersPerStep);
  const std::string first = last_looked_at_;
  last_looked_at_ = containers.size() < kContainersPerStep ? "" : containers.back()->id;
  std::map<std::string, std::string> found;
  for (const ContainerPtr& container : containers) {
    std::string reason = ReasonOf(snapshot, *container);
    if (!reason.empty()) found.emplace(container->id, std::move(reason));
  }
  MutexLock lock(mutex_);
  // Replaces the reasons in the range examined, deleted containers included.
  const auto end = last_looked_at_.empty() ? reasons_.end() : reasons_.upper_bound(last_looked_at_);
  reasons_.erase(first.empty() ? reasons_.begin() : reasons_.upper_bound(first), end);
  reasons_.merge(found);
}

size_t OverdueWatch::count() const {
  MutexLock lock(mutex_);
  return reasons_.size();
}

std::vector<std::string> OverdueWatch::Reasons() const {
  MutexLock lock(mutex_);
  std::vector<std::string> reasons;
  for (const auto& [container, reason] : reasons_) {
    if (reasons.size() == kMaxReasons) {
      reasons.push_back(absl::StrCat("Deletes of ", reasons_.size() - kMaxReasons,
                                     " more containers make no progress."));
      break;
    }
    reasons.push_back(reason);
  }
  return reasons;
}

std::string OverdueWatch::ReasonOf(const ExpiryView::Snapshot& snapshot,
                                   const Container& container) const {
  const absl::Time now = snapshot.clock.time.now;
  const int64_t latest = absl::ToUnixSeconds(now - kOverdue);
  const ExpiryIndex& index = parts_.storage.expiry_index();
  const DueRule rule = ComputeDueRule(container.settings.policy, container.replaced_policies, now);
  const std::optional<int64_t> next = index.NextDueTime(container, rule);
  const bool nothing_is = !next.has_value() || *next > latest;
  if (nothing_is && !index.MayHaveRetries(container)) return "";
  const ExpiryView::Freedom freedom = view_.FreedomAt(snapshot, container);
  const absl::Duration silence = *snapshot.steady - freedom.sweep.last_success.value_or(start_);
  if (silence < kNoSuccess || IsHeldOnPurpose(freedom)) return "";
  const auto oldest = index.OldestDueTime(container, rule, absl::ToUnixSeconds(now));
  if (!oldest.ok() || !oldest->has_value() || **oldest > latest) return "";
  return absl::StrCat("Deletes of container ", Quoted(container.id, kMaxContainerIdBytes),
                      " make no progress: an item has been due for ",
                      Span(now - absl::FromUnixSeconds(**oldest)), ", no delete has succeeded for ",
                      Span(silence), freedom.holds.empty() ? "" : ", held back because ",
                      DescribeHolds(freedom.holds), ".");
}

}  // namespace ttl
