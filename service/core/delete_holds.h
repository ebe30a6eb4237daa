#ifndef TTL_SERVICE_CORE_DELETE_HOLDS_H_
#define TTL_SERVICE_CORE_DELETE_HOLDS_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/adoption.h"
#include "service/core/container.h"
#include "service/core/delete_rates.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/sweep_board.h"

namespace ttl {

// What can keep deletes of a container from being sent. Values and meaning are
// those of DeleteHold in expiry_service.proto.
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
};

// All that the decision looks at.
struct HoldInputs {
  const Container& container;
  const std::optional<Pause>& all_paused;
  const JudgingTime& time;
  const StoreView& store;
  const PaceView& pace;
  const DeleteRates& rates;
  bool storage_writable = true;
  bool change_under_way = false;
  bool data_in_doubt = false;
  AdoptionTally adopted = {};
  bool waits_for_retry = false;  // an item that is due waits for its next try
  // Asked for items with an expire_at, which the store must know. The sweeper asks for the others,
  // and leaves those out if it does not.
  bool with_expire_at = false;
};

// What holds deletes back now, most general first. The one place that decides
// it: the sweeper asks before it sends, the status and ExplainItem show it.
std::vector<DeleteHold> ComputeDeleteHolds(const HoldInputs& inputs);

// Whether nothing at all may be sent under `hold`. kGrace, kBrake, kIndexBuilding and kRetry
// hold back some items only; kRate, kPushBack and a budget that leaves something
// over only slow deletes down.
bool StopsDeletes(DeleteHold hold);

// Whether an operator or a policy chose that `hold` stops deletes, so that nothing is wrong with
// items that are due and stay.
bool IsChosen(DeleteHold hold);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DELETE_HOLDS_H_
