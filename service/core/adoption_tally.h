#ifndef TTL_SERVICE_CORE_ADOPTION_TALLY_H_
#define TTL_SERVICE_CORE_ADOPTION_TALLY_H_

#include <cstdint>

namespace ttl {

// Counts a container's items that were already due when they were adopted. A run of adoptions lasts
// until none of its items is left.
struct AdoptionTally {
  int64_t items = 0;               // ever
  int64_t items_before_run = 0;    // of those
  int64_t left = 0;                // neither deleted nor reported again; they may be due by now
  int64_t last_adopted_until = 0;  // the longest that one of the run waits, Unix seconds

  friend bool operator==(const AdoptionTally&, const AdoptionTally&) = default;

  void Add(int64_t adopted_until);
  void Remove();
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ADOPTION_TALLY_H_
