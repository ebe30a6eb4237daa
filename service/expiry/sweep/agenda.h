#ifndef TTL_SERVICE_EXPIRY_SWEEP_AGENDA_H_
#define TTL_SERVICE_EXPIRY_SWEEP_AGENDA_H_

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace ttl {

// Which containers want a look, and when the others will: so that a round costs what
// there is to do, not how many containers there are. Containers are named by number,
// times are steady. Pure: time is an argument. Not thread-safe.
class Agenda {
 public:
  // The container wants a look now.
  void Wake(uint64_t container);

  // It wants none before `until`, which may be infinite, unless it is woken.
  void Sleep(uint64_t container, absl::Duration until);

  void Forget(uint64_t container);

  // Wakes those whose time has come.
  void WakeDue(absl::Duration now);

  // The next container that wants a look after `cursor`, in the order of numbers and
  // round and round; absent if there is none.
  std::optional<uint64_t> Next(uint64_t cursor) const;

  // When the first of those that sleep wakes; infinite if none will.
  absl::Duration NextWake() const;

 private:
  absl::btree_set<uint64_t> awake_;
  absl::flat_hash_map<uint64_t, absl::Duration> asleep_;
  std::set<std::pair<absl::Duration, uint64_t>> by_time_;  // of asleep_, without infinite ones
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_AGENDA_H_
