#ifndef TTL_SERVICE_CORE_ADOPTION_H_
#define TTL_SERVICE_CORE_ADOPTION_H_

#include <cstdint>

#include "absl/time/time.h"
#include "service/core/adoption_tally.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"

// The rules of adoption. An item is adopted if a scan, a rebuild or an import makes it tracked, or
// a report within one grace after its container was created. If it is already due then, it waits
// for one grace before it may be deleted, and counts for the brake of its container. So a first try
// destroys nothing. Pure functions.
namespace ttl {

// The conditions under which reports are taken: the time, and whether they adopt.
struct AdoptionTerms {
  absl::Time now;
  absl::Time latest;  // that it may be: what is due by then counts as due already
  absl::Duration grace;
  bool adopted = false;  // whatever the age of the container
};

// The time, Unix seconds, until which an item with these times waits if it is reported now. 0 if it
// does not wait, because it is not adopted or not due yet.
int64_t AdoptedUntil(const Container& container, const AdoptionTerms& terms,
                     const ItemTimes& times);

// Whether an item that waits until `adopted_until` (0: it does not wait) is still to be confirmed.
bool IsToConfirm(const Container& container, int64_t adopted_until);

// The first second, Unix time, at which its adoption allows an item to be deleted; 0 if it does not
// wait.
int64_t AdoptionEnd(const Container& container, int64_t adopted_until);

// The largest `adopted_until` of the items that their adoption allows to be deleted at
// `now_seconds`.
int64_t LastAdoptionEnded(const Container& container, int64_t now_seconds);

// The number of adopted items that count for the brake of the container: those of the present run
// that were not confirmed and have not pulled the brake yet.
int64_t AdoptedItemsToConfirm(const Container& container, const AdoptionTally& tally);

// Whether these items pull the brake, given that the container tracks `tracked_items`.
bool AdoptionPullsBrake(const Container& container, const AdoptionTally& tally,
                        int64_t tracked_items);

// Whether the brake holds back adopted items at `now`.
bool AdoptionIsBraked(const Container& container, absl::Time now);

// The state after the adopted items pulled the brake at `now`: no item that waits is deleted before
// the brake is released.
AdoptionState PullBrake(const Container& container, const AdoptionTally& tally, absl::Time now);

// The state after all items adopted so far were confirmed at `now`.
AdoptionState ConfirmAdopted(const Container& container, const AdoptionTally& tally,
                             absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ADOPTION_H_
