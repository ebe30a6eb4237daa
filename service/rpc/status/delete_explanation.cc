#include "service/rpc/status/delete_explanation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "service/base/quoted.h"
#include "service/base/time_text.h"
#include "service/core/adoption.h"
#include "service/core/due_rules.h"
#include "service/core/feed/subscription.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

std::string FormatSeconds(int64_t unix_seconds) {
  return TimeText(absl::FromUnixSeconds(unix_seconds));
}

// The first whole second at or after `time`.
int64_t CeilUnixSeconds(absl::Time time) {
  return absl::ToUnixSeconds(time + absl::Seconds(1) - absl::Nanoseconds(1));
}

std::optional<int64_t> DueTimeUnder(const Policy& policy, const TrackedItem& item, absl::Time now) {
  return DueTime(ComputeDueRule(policy, {}, now), item.version.times);
}

// When `replaced` stops holding back the item: when it is due under that policy too, or when the
// policy is no longer respected. 0 if that was before `now`.
int64_t EndOfHold(const ReplacedPolicy& replaced, const TrackedItem& item, absl::Time now) {
  if (replaced.until <= now) return 0;
  const int64_t until = CeilUnixSeconds(replaced.until);
  return std::min(until, DueTimeUnder(replaced.policy, item, now).value_or(until));
}

// The replaced policy that holds back the item for longest; null if none does.
const ReplacedPolicy* LastToKeep(const Container& container, const TrackedItem& item,
                                 absl::Time now) {
  const ReplacedPolicy* last = nullptr;
  int64_t last_end = 0;
  for (const ReplacedPolicy& replaced : container.replaced_policies) {
    const int64_t end = EndOfHold(replaced, item, now);
    if (end > last_end) {
      last = &replaced;
      last_end = end;
    }
  }
  return last;
}

int64_t GraceEnd(const Container& container, const TrackedItem& item, absl::Time now) {
  const ReplacedPolicy* last = LastToKeep(container, item, now);
  return last == nullptr ? 0 : EndOfHold(*last, item, now);
}

absl::string_view Describe(DeleteHold hold) {
  switch (hold) {
    case DeleteHold::kTtlOff:
      return "TTL is off for the container";
    case DeleteHold::kContainerPaused:
      return "deletes of the container are paused by an operator";
    case DeleteHold::kAllPaused:
      return "all deletes are paused by an operator";
    case DeleteHold::kZeroRate:
      return "the allowed rate of deletes is 0";
    case DeleteHold::kRate:
      return "deletes wait for the rate limit";
    case DeleteHold::kClockSuspect:
      return "the clock is suspect";
    case DeleteHold::kStore:
      return "the store cannot be reached, asked for a delay, failed, or does not know expire_at";
    case DeleteHold::kClockSkew:
      return "our clock and the store's are too far apart";
    case DeleteHold::kGrace:
      return "a stricter policy, or an item that was already due when it was adopted, is in its "
             "grace";
    case DeleteHold::kStorage:
      return "storage refuses writes";
    case DeleteHold::kChangeUnderWay:
      return "a change of the container waits for deletes in flight";
    case DeleteHold::kIndexBuilding:
      return "the expiry index is still being built";
    case DeleteHold::kNoStore:
      return "no primary store is configured";
    case DeleteHold::kBudget:
      return "requests use all of the container's throughput";
    case DeleteHold::kBrake:
      return "a policy change or adopted items pulled the container's brake and wait for "
             "confirmation";
    case DeleteHold::kStoreUnconfirmed:
      return "the primary store has to be confirmed by an operator";
    case DeleteHold::kPushBack:
      return "the store pushed back and the rate of deletes is reduced";
    case DeleteHold::kBackoff:
      return "deletes of the container failed, or the store asked for a delay";
    case DeleteHold::kDataInDoubt:
      return "the tracked items may be incomplete until they have been compared with the store";
    case DeleteHold::kRetry:
      return "items whose delete failed wait for their next try";
    case DeleteHold::kHeld:
      return "a hold covers all items of the container";
    case DeleteHold::kHoldsInDoubt:
      return "holds are not known to be complete, or cannot be read";
    case DeleteHold::kWindow:
      return "the windows of the container allow no deletes now";
    case DeleteHold::kGate:
      return "some items wait until gated subscriptions have acknowledged their expiry";
  }
  return "of an unknown reason";
}

std::string NeverExpiresSentence(const Container& container, const ItemTimes& times) {
  if (!container.settings.policy.default_ttl.has_value()) {
    return "The item never expires, because its container has no default_ttl: TTL is off.";
  }
  if (times.expire_at.has_value() && !IsLegalExpireAt(*times.expire_at)) {
    return absl::StrCat("The item never expires, because its expire_at is ", *times.expire_at,
                        ", which is not legal.");
  }
  if (times.ttl.has_value()) {
    return absl::StrCat("The item never expires, because its own ttl is ", *times.ttl, ".");
  }
  return absl::StrCat("The item never expires, because it has no ttl of its own and the ",
                      "default_ttl of its container is ", *container.settings.policy.default_ttl,
                      ".");
}

std::string Describe(const Expiry& expiry) {
  switch (expiry.source) {
    case TtlSource::kItem:
      return absl::StrCat("its own ttl of ", expiry.effective_ttl.value_or(0), " s");
    case TtlSource::kContainer:
      return absl::StrCat("the container's default_ttl of ", expiry.effective_ttl.value_or(0),
                          " s");
    case TtlSource::kExpireAt:
      return "its own expire_at";
    case TtlSource::kNone:
      break;
  }
  return "nothing";
}

// From when on the ttl counts, if that is not `_ts`.
std::string SinceTouch(const Expiry& expiry, const ItemTimes& times) {
  if (!expiry.effective_ttl.has_value() || times.base() == times.ts) return "";
  return absl::StrCat(" since it was touched at ", FormatSeconds(times.touch_time));
}

std::string LiveSentence(const Expiry& expiry, const ItemTimes& times, absl::Time now) {
  return absl::StrCat("The item is live and expires in ",
                      RemainingSeconds(*expiry.time, expiry.effective_ttl, now), " s, at ",
                      FormatSeconds(*expiry.time), ", by ", Describe(expiry),
                      SinceTouch(expiry, times), ".");
}

std::string StateUnknownSentence(const TrackedItem& item) {
  const std::string next_try =
      item.retry_time.has_value() ? absl::StrCat(" or retried at ", FormatSeconds(*item.retry_time))
                                  : "";
  return absl::StrCat(
      "The store answered that it has another version of the item, but not which one, so the item "
      "counts as untracked until it is reported again",
      next_try, ".");
}

// What happens at `due_time`, before which an expired item is not due.
std::string WaitReason(const Container& container, const TrackedItem& item, int64_t due_time,
                       absl::Time now) {
  if (item.retry_time == due_time && item.attempts == 0 && !item.last_error.empty()) {
    return absl::StrCat("the delete is retried; ", item.last_error);
  }
  if (item.retry_time == due_time && item.attempts == 0) {
    return "the delete is retried after the store was too busy";
  }
  if (item.retry_time == due_time) {
    return absl::StrCat("the delete is retried after ", item.attempts,
                        item.attempts == 1 ? " failed attempt" : " failed attempts");
  }
  if (AdoptionEnd(container, item.adopted_until) == due_time) {
    return AdoptionIsBraked(container, now)
               ? "the container's brake, which adopted items pulled, releases it, unless they are "
                 "confirmed earlier"
               : "the grace of an item that was already due when it was adopted ends, unless it is "
                 "confirmed earlier";
  }
  const ReplacedPolicy* replaced = LastToKeep(container, item, now);
  if (replaced != nullptr && EndOfHold(*replaced, item, now) == due_time) {
    if (!replaced->braked_items.has_value()) return "the grace of a stricter policy ends";
    return "the container's brake releases it, unless the policy change that pulled the brake is "
           "confirmed or reverted earlier";
  }
  return absl::StrCat("the container's delay of ", container.settings.policy.delay_seconds,
                      " s ends");
}

bool Contains(const std::vector<DeleteHold>& holds, DeleteHold hold) {
  return std::find(holds.begin(), holds.end(), hold) != holds.end();
}

void AppendHold(std::string* out, const HoldPtr& hold) {
  absl::StrAppend(out, Quoted(hold->hold_id, kMaxHoldIdBytes), " (reason ",
                  Quoted(hold->reason, kMaxHoldReasonBytes), ", until ",
                  hold->until.has_value() ? TimeText(*hold->until) : "it is released", ")");
}

// Says which holds cover an item: 'hold "a" (reason "audit", until it is released) covers it'.
std::string DescribeItemHolds(const std::vector<HoldPtr>& holds) {
  constexpr size_t kMaxNamed = 3;
  const size_t named = std::min(holds.size(), kMaxNamed);
  const std::string names = absl::StrJoin(holds.begin(), holds.begin() + named, ", ", AppendHold);
  if (holds.size() == 1) return absl::StrCat("hold ", names, " covers it");
  return absl::StrCat("holds ", names, named < holds.size() ? " and others" : "", " cover it");
}

// 'subscription "archive"', or the first of several.
std::string NameGates(const std::vector<std::string>& names) {
  constexpr size_t kMaxNamed = 3;
  const size_t named = std::min(names.size(), kMaxNamed);
  const std::string quoted = absl::StrJoin(
      names.begin(), names.begin() + named, ", ", [](std::string* out, const std::string& name) {
        absl::StrAppend(out, Quoted(name, kMaxSubscriptionNameBytes));
      });
  return absl::StrCat(names.size() == 1 ? "subscription " : "subscriptions ", quoted,
                      named < names.size() ? " and others" : "");
}

std::string DescribeEvent(uint64_t sequence) {
  if (sequence == 0) return "its EXPIRED, which is not logged yet";
  return absl::StrCat("event ", sequence);
}

std::string DescribeWait(const GateWait& gates) {
  return absl::StrCat("it waits for ", NameGates(gates.subscriptions), " to acknowledge ",
                      DescribeEvent(gates.sequence));
}

// What else must have happened before an item that is not due yet is deleted.
std::string DescribeCondition(const GateWait& gates) {
  if (gates.subscriptions.empty()) return "";
  return absl::StrCat(" and ", NameGates(gates.subscriptions),
                      gates.subscriptions.size() == 1 ? " has" : " have", " acknowledged ",
                      DescribeEvent(gates.sequence));
}

// Why an item that is due is not deleted yet; its own holds and gates are named instead of kHeld
// and kGate.
std::string DescribeAll(std::vector<DeleteHold> holds, const std::vector<HoldPtr>& item_holds,
                        const GateWait& gates) {
  std::vector<std::string> reasons;
  if (!item_holds.empty()) {
    std::erase(holds, DeleteHold::kHeld);
    reasons.push_back(DescribeItemHolds(item_holds));
  }
  if (!gates.subscriptions.empty()) {
    std::erase(holds, DeleteHold::kGate);
    reasons.push_back(DescribeWait(gates));
  }
  if (!holds.empty()) reasons.push_back(DescribeHolds(holds));
  return absl::StrJoin(reasons, "; ");
}

std::string ExpiredSentence(const Container& container, const TrackedItem& item,
                            int64_t expire_time, const DeleteExplanation& explanation,
                            const std::vector<HoldPtr>& item_holds, const GateWait& gates,
                            absl::Time now) {
  const bool is_shown = container.settings.show_held && !item_holds.empty();
  const std::string expired =
      absl::StrCat("The item expired at ", FormatSeconds(expire_time),
                   is_shown ? " and is shown because of a hold" : " and has been hidden since");
  const int64_t due_time = *explanation.due_time;
  if (due_time > absl::ToUnixSeconds(now)) {
    return absl::StrCat(
        expired, "; it ", item_holds.empty() ? "will" : "would", " be deleted from ",
        FormatSeconds(due_time), " on, when ", WaitReason(container, item, due_time, now),
        DescribeCondition(gates),
        item_holds.empty() ? "" : absl::StrCat(", but ", DescribeItemHolds(item_holds)), ".");
  }
  if (explanation.holds.empty() && container.feed.is_on() &&
      !container.feed.IsAnnounced(item.expired_sequence)) {
    return absl::StrCat(expired, "; it is deleted when the feed has announced its expiry.");
  }
  if (explanation.holds.empty()) return absl::StrCat(expired, "; its delete is next in line.");
  return absl::StrCat(expired, "; it is not deleted yet because ",
                      DescribeAll(explanation.holds, item_holds, gates), ".");
}

std::string Sentence(const Container& container, const TrackedItem& item,
                     const DeleteExplanation& explanation, const std::vector<HoldPtr>& item_holds,
                     const GateWait& gates, absl::Time now) {
  if (item.state_unknown) return StateUnknownSentence(item);
  const ItemTimes& times = item.version.times;
  const Expiry expiry = ComputeExpiry(container.settings.policy.default_ttl, times);
  if (!expiry.time.has_value()) return NeverExpiresSentence(container, times);
  if (!IsExpiredAt(expiry.time, now)) return LiveSentence(expiry, times, now);
  return ExpiredSentence(container, item, *expiry.time, explanation, item_holds, gates, now);
}

}  // namespace

std::string DescribeHolds(const std::vector<DeleteHold>& holds) {
  return absl::StrJoin(
      holds, "; ", [](std::string* out, DeleteHold hold) { absl::StrAppend(out, Describe(hold)); });
}

std::optional<int64_t> ExpectedDueTime(const Container& container, const TrackedItem& item,
                                       absl::Time now) {
  const std::optional<int64_t> due = DueTimeUnder(container.settings.policy, item, now);
  if (!due.has_value()) return std::nullopt;
  return std::max({*due, GraceEnd(container, item, now), item.retry_time.value_or(*due),
                   AdoptionEnd(container, item.adopted_until)});
}

DeleteExplanation ExplainDelete(const Container& container, const TrackedItem& item,
                                const std::vector<DeleteHold>& container_holds, absl::Time now,
                                const std::vector<HoldPtr>& item_holds, const GateWait& gates) {
  DeleteExplanation explanation;
  explanation.due_time = ExpectedDueTime(container, item, now);
  const bool is_due =
      explanation.due_time.has_value() && *explanation.due_time <= absl::ToUnixSeconds(now);
  if (is_due) {
    explanation.holds = container_holds;
    // An item that is due is past its own grace, brake and retry delay, and gates are its own.
    for (const DeleteHold hold :
         {DeleteHold::kGrace, DeleteHold::kBrake, DeleteHold::kRetry, DeleteHold::kGate}) {
      std::erase(explanation.holds, hold);
    }
  } else if (explanation.due_time.has_value() && item.retry_time == explanation.due_time) {
    explanation.holds = {DeleteHold::kRetry};
    // That it waits for another try is then only how the sweeper holds it.
    if (Contains(container_holds, DeleteHold::kStore) && item.version.times.expire_at.has_value()) {
      explanation.holds = {DeleteHold::kStore};
    }
  }
  if (is_due && !item_holds.empty() && !Contains(explanation.holds, DeleteHold::kHeld)) {
    explanation.holds.push_back(DeleteHold::kHeld);
  }
  if (is_due && !gates.subscriptions.empty()) explanation.holds.push_back(DeleteHold::kGate);
  explanation.sentence = Sentence(container, item, explanation, item_holds, gates, now);
  return explanation;
}

}  // namespace ttl
