#ifndef TTL_SERVICE_CORE_TALLY_VIEW_H_
#define TTL_SERVICE_CORE_TALLY_VIEW_H_

#include "service/core/adoption_tally.h"
#include "service/core/item_histogram.h"

namespace ttl {

// The stored totals of a container's items.
struct ContainerTotals {
  ItemSum tracked;  // expired or not
  AdoptionTally adopted;

  friend bool operator==(const ContainerTotals&, const ContainerTotals&) = default;
};

// The number of items of a container, and their distribution over time, at one moment.
struct TallyView {
  // All items, expired or not. Durable and exact; only of data that was written by a
  // version without totals it is what has been counted so far, until all is.
  ItemSum tracked;
  // Those that were adopted when they were due. Durable and exact.
  AdoptionTally adopted;
  // The items counted so far: all of them if `complete`.
  ItemHistogram histogram;
  // After a start the distribution is counted anew in the background; false until that is done.
  bool complete = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_TALLY_VIEW_H_
