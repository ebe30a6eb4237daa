#ifndef TTL_SERVICE_CORE_SWEEP_BOARD_H_
#define TTL_SERVICE_CORE_SWEEP_BOARD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "service/core/mutex.h"

namespace ttl {

// The primary store as the sweeper last saw it.
struct StoreView {
  bool configured = false;
  bool reachable = false;
  std::string store_id;
  std::optional<absl::Duration> clock_skew;  // our clock minus the store's
  bool skew_too_large = false;               // deletes wait until it is less
  std::string last_error;                    // empty if the last call was answered
  std::optional<absl::Time> last_success_time;
  std::optional<absl::Time> held_until;  // no call before
};

// Deletes by what became of them; see DeleteTally in expiry_service.proto.
struct DeleteTally {
  int64_t sent = 0;
  int64_t deleted = 0;
  int64_t not_found = 0;
  int64_t modified = 0;
  int64_t not_expired = 0;
  int64_t throttled = 0;
  int64_t failed = 0;
  int64_t unanswered = 0;

  DeleteTally& operator+=(const DeleteTally& other);
};

// One container as the sweeper last saw it.
struct ContainerSweepView {
  DeleteTally deletes;
  int64_t early_entries = 0;      // index entries moved or dropped as met
  bool waiting_for_rate = false;  // its last step had to leave due items for want of tokens
};

// Where the sweeper posts what it does and the handlers read it, so that the two
// need not know each other. In memory only; counts start with the process.
// Thread-safe.
class SweepBoard {
 public:
  void PostStore(StoreView store);
  StoreView Store() const;

  // Containers are named by their number.
  void AddDeletes(uint64_t container, const DeleteTally& delta);
  void AddEarlyEntries(uint64_t container, int64_t count);
  void SetWaitingForRate(uint64_t container, bool waiting);
  ContainerSweepView View(uint64_t container) const;

  // Drops what is known of a container that is gone.
  void Forget(uint64_t container);

 private:
  mutable Mutex mutex_;
  StoreView store_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, ContainerSweepView> containers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_SWEEP_BOARD_H_
