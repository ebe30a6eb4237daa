#ifndef TTL_SERVICE_CORE_DELETE_HOLDS_H_
#define TTL_SERVICE_CORE_DELETE_HOLDS_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/adoption.h"
#include "service/core/container.h"
#include "service/core/delete_rates.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/published_sweep.h"

namespace ttl {

// The reasons why deletes of a container are not sent. Values and meaning are those of DeleteHold
// in expiry_service.proto.
enum class DeleteHold {
  kTtlOff = 1,
  kContainerPaused = 2,
  kAllPaused = 3,
  kZeroRate = 4,
  kRate = 5,
  kClockSuspect = 6,
  kStore = 7,
  kClockSkew = 8,
  kGrace = 9,
  kStorage = 10,
  kChangeUnderWay = 11,
  kIndexBuilding = 12,
  kNoStore = 13,
  kBudget = 14,
  kBrake = 15,
  kStoreUnconfirmed = 16,
  kPushBack = 17,
  kBackoff = 18,
  kDataInDoubt = 19,
  kRetry = 20,
  kHeld = 21,
  kHoldsInDoubt = 22,
  kWindow = 23,
  kGate = 24,
};

// What storage knows of whether items of a container may be deleted; see
// Storage::FactsForDeletes().
struct StorageFacts {
  bool all_paused = false;
  bool writable = true;           // the outcomes of deletes can be committed
  bool change_under_way = false;  // a change of the container waits for deletes in flight
  bool data_in_doubt = false;
  bool holds_all = false;        // a hold (core/hold/hold.h) covers all items of the container
  bool holds_in_doubt = false;   // the container requires holds, and some may be missing
  bool has_gated_items = false;  // due items wait for gated subscriptions
};

// All that the decision looks at.
struct HoldInputs {
  const Container& container;
  const StorageFacts& storage;
  const JudgingTime& time;
  const StoreView& store;
  const PaceView& pace;
  const DeleteRates& rates;
  AdoptionTally adopted = {};
  bool waits_for_retry = false;  // an item that is due waits for its next try
  // Whether the question is about items with an expire_at, which the store must know. The sweeper
  // asks about the others, and does not send those if the store does not know it.
  bool with_expire_at = false;
};

// The holds on deletes now, most general first. This is the only place that decides them: the
// sweeper asks before it sends, and the status and ExplainItem show them. Pure.
std::vector<DeleteHold> ComputeDeleteHolds(const HoldInputs& inputs);

// Whether no delete may be sent under `hold`. kGrace, kBrake, kIndexBuilding, kRetry and kGate
// hold back some items only; kRate, kPushBack and a budget that leaves something over only slow
// deletes down.
bool StopsDeletes(DeleteHold hold);

// When deletes begin under `holds`, those of `inputs`: now if none of them stops deletes, and when
// the last of those ends that do. Absent if one of those stays until something else changes.
std::optional<absl::Time> DeletesBegin(const HoldInputs& inputs,
                                       const std::vector<DeleteHold>& holds);

// Whether `hold` stops deletes because an operator or a policy asked for it, so that due items that
// stay are no fault.
bool IsChosen(DeleteHold hold);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DELETE_HOLDS_H_
