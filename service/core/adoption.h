#ifndef TTL_SERVICE_CORE_ADOPTION_H_
#define TTL_SERVICE_CORE_ADOPTION_H_

#include <cstdint>

#include "absl/time/time.h"
#include "service/core/adoption_tally.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"

// A first try destroys nothing: an item that is already due when it is adopted, which is
// when a scan, a rebuild, an import or a report within one grace after its container's
// creation makes it tracked, waits for one grace from then on, and counts for the
// container's brake. Pure.
namespace ttl {

// At what time reports are taken, and whether they adopt.
struct AdoptionTerms {
  absl::Time now;
  absl::Time latest;  // that it may be: what is due by then counts as due already
  absl::Duration grace;
  bool adopted = false;  // whatever the age of the container
};

// Until when an item of these times waits if it is reported now: Unix seconds, above 0; 0 if
// it waits for nothing, because it is not adopted or not due yet.
int64_t AdoptedUntil(const Container& container, const AdoptionTerms& terms,
                     const ItemTimes& times);

// Whether an item that is to wait until `adopted_until` (0: it is not) is not confirmed.
bool IsToConfirm(const Container& container, int64_t adopted_until);

// First second at which it may be deleted, as far as its adoption goes; 0 if it is not to wait.
int64_t AdoptionEnd(const Container& container, int64_t adopted_until);

// Items that wait until this second or less may be deleted at `now_seconds`, as far as their
// adoption goes.
int64_t LastAdoptionEnded(const Container& container, int64_t now_seconds);

// How many adopted items count for the container's brake: those of the run, but for the ones
// that were confirmed or have pulled it already.
int64_t AdoptedItemsToConfirm(const Container& container, const AdoptionTally& tally);

// Whether they pull the brake, of which `tracked_items` is the whole.
bool AdoptionPullsBrake(const Container& container, const AdoptionTally& tally,
                        int64_t tracked_items);

// Whether the brake holds adopted items back at `now`.
bool AdoptionIsBraked(const Container& container, absl::Time now);

// The state after they pulled the brake at `now`: no item that waits is deleted before the
// brake is released.
AdoptionState PullBrake(const Container& container, const AdoptionTally& tally, absl::Time now);

// The state after everything adopted so far was confirmed at `now`.
AdoptionState ConfirmAdopted(const Container& container, const AdoptionTally& tally,
                             absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ADOPTION_H_
