#ifndef TTL_SERVICE_EXPIRY_SWEEP_RUN_QUEUE_H_
#define TTL_SERVICE_EXPIRY_SWEEP_RUN_QUEUE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace ttl {

// The containers that are ready to run, and when the others will be, so that a round costs as much
// as there is to do, however many containers there are. Containers are named by number; times are
// readings of a steady clock. Pure: time is an argument. Not thread-safe.
class RunQueue {
 public:
  // Makes the container ready.
  void Wake(uint64_t container);

  // The container is not ready before `until`, which may be infinite, unless it is woken.
  void Sleep(uint64_t container, absl::Duration until);

  void Forget(uint64_t container);

  // Wakes the containers whose `until` has passed.
  void WakeDue(absl::Duration now);

  // The ready container with the lowest number above `cursor`, else the lowest of all; absent if
  // none is ready.
  std::optional<uint64_t> Next(uint64_t cursor) const;

  // When the next sleeping container wakes; infinite if none will.
  absl::Duration NextWake() const;

 private:
  absl::btree_set<uint64_t> awake_;
  absl::flat_hash_map<uint64_t, absl::Duration> asleep_;
  std::set<std::pair<absl::Duration, uint64_t>> by_time_;  // asleep_, except infinite ones
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_RUN_QUEUE_H_
