#ifndef TTL_SERVICE_CORE_TALLY_VIEW_H_
#define TTL_SERVICE_CORE_TALLY_VIEW_H_

#include "service/core/item_tally.h"

namespace ttl {

// How many items a container has and how they spread over time, at one moment.
struct TallyView {
  // All items, expired or not. Durable and exact; only of data that was written by a
  // version without totals it is what has been counted so far, until all is.
  ItemSum tracked;
  // The items counted so far: all of them if `complete`.
  ItemTally spread;
  // After a start the spread is counted anew in the background; false until that is done.
  bool complete = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_TALLY_VIEW_H_
