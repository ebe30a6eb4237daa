#include "service/rpc/status/overdue_watch.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "service/base/quoted.h"
#include "service/core/delete_holds.h"
#include "service/core/due_rules.h"
#include "service/core/windows/allowed_time.h"
#include "service/core/windows/time_zone.h"
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

// Replaces what `all` has of the containers after `first` up to `last`, deleted ones included. An
// empty `last` means the end.
template <typename Set>
void ReplaceRange(const std::string& first, const std::string& last, Set found, Set& all) {
  const auto end = last.empty() ? all.end() : all.upper_bound(last);
  all.erase(first.empty() ? all.begin() : all.upper_bound(first), end);
  all.merge(found);
}

// The first sentences of `by_container`, and one for the rest: `more`, their number, `than_named`.
std::vector<std::string> FirstOf(const std::map<std::string, std::string>& by_container,
                                 absl::string_view more, absl::string_view than_named) {
  std::vector<std::string> sentences;
  for (const auto& [container, sentence] : by_container) {
    if (sentences.size() == OverdueWatch::kMaxReasons) {
      sentences.push_back(
          absl::StrCat(more, by_container.size() - OverdueWatch::kMaxReasons, than_named));
      break;
    }
    sentences.push_back(sentence);
  }
  return sentences;
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
  std::set<std::string> in_doubt;
  std::map<std::string, std::string> zones;
  std::map<std::string, std::string> gates;
  for (const ContainerPtr& container : containers) {
    std::string reason = ReasonOf(snapshot, *container);
    if (!reason.empty()) found.emplace(container->id, std::move(reason));
    if (parts_.storage.holds().AreInDoubt(*container)) in_doubt.insert(container->id);
    std::string zone = MissingZoneOf(*container);
    if (!zone.empty()) zones.emplace(container->id, std::move(zone));
    std::string gate = GateOf(*container, snapshot.clock.time.now);
    if (!gate.empty()) gates.emplace(container->id, std::move(gate));
  }
  MutexLock lock(mutex_);
  ReplaceRange(first, last_looked_at_, std::move(found), reasons_);
  ReplaceRange(first, last_looked_at_, std::move(in_doubt), in_doubt_);
  ReplaceRange(first, last_looked_at_, std::move(zones), zones_);
  ReplaceRange(first, last_looked_at_, std::move(gates), gates_);
}

size_t OverdueWatch::count() const {
  MutexLock lock(mutex_);
  return reasons_.size();
}

std::vector<std::string> OverdueWatch::Reasons() const {
  MutexLock lock(mutex_);
  return FirstOf(reasons_, "Deletes of ", " more containers make no progress.");
}

std::vector<std::string> OverdueWatch::MissingZones() const {
  MutexLock lock(mutex_);
  return FirstOf(zones_, "The time zones of ", " more containers cannot be loaded.");
}

std::vector<std::string> OverdueWatch::Gates() const {
  MutexLock lock(mutex_);
  return FirstOf(gates_, "Deletes of ", " more containers wait for gated subscriptions.");
}

std::vector<std::string> OverdueWatch::HoldsInDoubt() const {
  MutexLock lock(mutex_);
  std::vector<std::string> reasons;
  size_t seen = 0;
  for (const std::string& id : in_doubt_) {
    const ContainerPtr container = parts_.storage.containers().Find(id);
    if (container != nullptr && parts_.storage.holds().AreInDoubt(*container)) {
      if (reasons.size() == kMaxReasons) {
        reasons.push_back(absl::StrCat("The holds of up to ", in_doubt_.size() - seen,
                                       " more containers are not known to be complete."));
        break;
      }
      const std::string name = Quoted(id, kMaxContainerIdBytes);
      reasons.push_back(absl::StrCat("The holds of container ", name,
                                     " are not known to be complete, so nothing of it is deleted: "
                                     "place them again, then run ttlctl holds accept ",
                                     name, "."));
    }
    ++seen;
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
  const absl::Time due = absl::FromUnixSeconds(**oldest);
  const absl::Time last_success = now - silence;
  const AllowedTime allowed(container.settings.windows, std::min(due, last_success), now);
  if (allowed.Since(due) < kOverdue || allowed.Since(last_success) < kNoSuccess) return "";
  return absl::StrCat("Deletes of container ", Quoted(container.id, kMaxContainerIdBytes),
                      " make no progress: an item has been due for ", Span(now - due),
                      ", no delete has succeeded for ", Span(silence),
                      freedom.holds.empty() ? "" : ", held back because ",
                      DescribeHolds(freedom.holds), ".");
}

std::string OverdueWatch::GateOf(const Container& container, absl::Time now) const {
  if (!container.feed.is_on()) return "";
  const std::vector<FeedView::WaitingGate> gates = feeds_.WaitingGates(container);
  if (gates.empty()) return "";
  const auto since = [](const FeedView::WaitingGate& gate) {
    return gate.since.value_or(absl::InfiniteFuture());
  };
  const FeedView::WaitingGate& slowest =
      *std::min_element(gates.begin(), gates.end(),
                        [&since](const auto& a, const auto& b) { return since(a) < since(b); });
  const std::string id = Quoted(container.id, kMaxContainerIdBytes);
  const std::string name = Quoted(slowest.name, kMaxSubscriptionNameBytes);
  if (parts_.storage.feed().Gates(container).is_full) {
    return absl::StrCat("The feed of container ", id, " is full because subscription ", name,
                        " has not acknowledged its oldest event, so that no further item of the "
                        "container can be deleted: see ttlctl subscriptions list ",
                        id, ".");
  }
  if (now - since(slowest) < kMaxGateWait) return "";
  return absl::StrCat("Deletes of container ", id, " wait for subscription ", name,
                      ", which has not acknowledged an event of ", Span(now - since(slowest)),
                      " ago: see ttlctl subscriptions list ", id, ".");
}

std::string OverdueWatch::MissingZoneOf(const Container& container) {
  const std::optional<DeleteWindows>& windows = container.settings.windows;
  if (!windows.has_value() || FindTimeZone(windows->time_zone).has_value()) return "";
  return absl::StrCat("The time zone ", ShownTimeZone(windows->time_zone),
                      " of the windows of container ", Quoted(container.id, kMaxContainerIdBytes),
                      " cannot be loaded, so the smallest rate of the windows applies at all "
                      "times: install the package tzdata.");
}

}  // namespace ttl
