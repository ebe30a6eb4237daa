#include "service/core/delete_holds.h"

#include <algorithm>

namespace ttl {

namespace {

// Whether a replaced policy still holds back items at `now`, considering only those policies that
// pulled the brake (`braked`) or only those that did not.
bool IsHeldBack(const Container& container, bool braked, absl::Time now) {
  const std::vector<ReplacedPolicy>& replaced = container.replaced_policies;
  return std::any_of(replaced.begin(), replaced.end(), [&](const ReplacedPolicy& entry) {
    return entry.until > now && entry.braked_items.has_value() == braked;
  });
}

// Whether adopted items wait for the end of their grace.
bool HasAdoptedInGrace(const HoldInputs& in, absl::Time now) {
  return in.adopted.left > 0 && !AdoptionIsBraked(in.container, now) &&
         AdoptionEnd(in.container, in.adopted.last_adopted_until) > absl::ToUnixSeconds(now);
}

bool LacksExpireAt(const HoldInputs& in) { return in.with_expire_at && !in.store.knows_expire_at; }

// Absent if it is not known.
std::optional<absl::Time> EndOf(const HoldInputs& in, DeleteHold hold) {
  switch (hold) {
    case DeleteHold::kBackoff:
      return in.pace.held_until;
    case DeleteHold::kChangeUnderWay:
      return in.time.for_deletes;  // deletes in flight end within seconds
    case DeleteHold::kStore:
      if (!in.store.reachable || LacksExpireAt(in)) return std::nullopt;
      return in.store.held_until;
    case DeleteHold::kWindow:
      if (in.rates.windows_open == absl::InfiniteFuture()) return std::nullopt;
      return in.rates.windows_open;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<DeleteHold> ComputeDeleteHolds(const HoldInputs& in) {
  std::vector<DeleteHold> holds;
  const auto add_if = [&holds](bool condition, DeleteHold hold) {
    if (condition) holds.push_back(hold);
  };
  const absl::Time now = in.time.for_deletes;
  const auto is_ahead = [now](std::optional<absl::Time> until) {
    return until.has_value() && *until > now;
  };

  add_if(!in.container.settings.policy.default_ttl.has_value(), DeleteHold::kTtlOff);
  add_if(!in.store.configured, DeleteHold::kNoStore);
  add_if(in.storage.all_paused, DeleteHold::kAllPaused);
  add_if(in.container.pause.has_value(), DeleteHold::kContainerPaused);
  add_if(in.storage.holds_all, DeleteHold::kHeld);
  add_if(in.storage.data_in_doubt, DeleteHold::kDataInDoubt);
  add_if(in.storage.holds_in_doubt, DeleteHold::kHoldsInDoubt);
  add_if(!in.time.deletes_allowed, DeleteHold::kClockSuspect);
  add_if(!in.store.unconfirmed.empty(), DeleteHold::kStoreUnconfirmed);
  add_if(in.store.skew_too_large, DeleteHold::kClockSkew);
  add_if(in.store.configured &&
             (!in.store.reachable || is_ahead(in.store.held_until) || LacksExpireAt(in)),
         DeleteHold::kStore);
  add_if(!in.storage.writable, DeleteHold::kStorage);
  add_if(in.rates.limit.has_value() && *in.rates.limit <= 0 && !in.rates.windows_open.has_value(),
         DeleteHold::kZeroRate);
  add_if(in.rates.windows_open.has_value(), DeleteHold::kWindow);
  add_if(in.rates.budget.has_value() && in.rates.budget->deletes_per_second <= 0,
         DeleteHold::kBudget);
  add_if(is_ahead(in.pace.held_until), DeleteHold::kBackoff);
  add_if(in.storage.change_under_way, DeleteHold::kChangeUnderWay);
  add_if(IsHeldBack(in.container, /*braked=*/true, now) ||
             (in.adopted.left > 0 && AdoptionIsBraked(in.container, now)),
         DeleteHold::kBrake);
  add_if(IsHeldBack(in.container, /*braked=*/false, now) || HasAdoptedInGrace(in, now),
         DeleteHold::kGrace);
  add_if(in.container.index_build.has_value(), DeleteHold::kIndexBuilding);
  add_if(in.pace.bearable_per_second.has_value(), DeleteHold::kPushBack);
  add_if(in.pace.waiting_for_rate, DeleteHold::kRate);
  add_if(in.waits_for_retry, DeleteHold::kRetry);
  add_if(in.storage.has_gated_items, DeleteHold::kGate);
  return holds;
}

bool StopsDeletes(DeleteHold hold) {
  return hold != DeleteHold::kGrace && hold != DeleteHold::kBrake &&
         hold != DeleteHold::kIndexBuilding && hold != DeleteHold::kPushBack &&
         hold != DeleteHold::kRate && hold != DeleteHold::kRetry && hold != DeleteHold::kGate;
}

std::optional<absl::Time> DeletesBegin(const HoldInputs& inputs,
                                       const std::vector<DeleteHold>& holds) {
  absl::Time begin = inputs.time.for_deletes;
  for (const DeleteHold hold : holds) {
    if (!StopsDeletes(hold)) continue;
    const std::optional<absl::Time> end = EndOf(inputs, hold);
    if (!end.has_value()) return std::nullopt;
    begin = std::max(begin, *end);
  }
  return begin;
}

bool IsChosen(DeleteHold hold) {
  switch (hold) {
    case DeleteHold::kTtlOff:
    case DeleteHold::kNoStore:
    case DeleteHold::kAllPaused:
    case DeleteHold::kContainerPaused:
    case DeleteHold::kZeroRate:
    case DeleteHold::kBudget:
    case DeleteHold::kHeld:
    case DeleteHold::kWindow:
      return true;
    default:
      return false;
  }
}

}  // namespace ttl
