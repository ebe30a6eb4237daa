#ifndef TTL_SERVICE_STORAGE_TOUCHES_H_
#define TTL_SERVICE_STORAGE_TOUCHES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/base/done.h"
#include "service/base/mutex.h"
#include "service/core/guarded_clock.h"
#include "service/core/item.h"

namespace ttl {

class CommitQueue;
struct Container;
class DeleteGate;
class ItemReader;
class ReportTransaction;

// What a caller asks for; see TouchItems in item_service.proto.
struct TouchRequest {
  std::vector<ItemKey> keys;
  int64_t unless_touched_within = 0;  // seconds
};

// What became of a touch. Values and meaning are those of TouchResult in item_service.proto.
enum class TouchOutcome { kTouched = 1, kRecent = 2, kExpired = 3, kNotTracked = 4 };

struct TouchedItem {
  TouchOutcome outcome = TouchOutcome::kNotTracked;
  std::optional<int64_t> expire_time;  // absent: it never expires, or is not tracked
};

struct TouchedItems {
  std::vector<TouchedItem> items;  // one per key, in their order
  int64_t touch_time = 0;          // as of which they were touched, Unix seconds
};

// How many touches of each container (a number; DeleteGate::kAllContainers stands for all) wait for
// deletes in flight that may contain what they touched. Thread-safe.
class TouchWaits {
 public:
  void Begin(uint64_t container);
  void End(uint64_t container);  // one for each Begin()
  // Whether one of the container waits, or of all.
  bool HasAny(uint64_t container) const;

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, int> waiting_ ABSL_GUARDED_BY(mutex_);
};

// Starts the countdown of items again. Thread-safe.
class Touches {
 public:
  // The time to judge by now, or why items cannot be judged, such as a clock that is suspect.
  // Called on the commit threads; must not block.
  using ReadTime = std::function<absl::StatusOr<JudgingTime>()>;

  struct Parts {
    CommitQueue& queue;
    const ItemReader& reader;
    DeleteGate& gate;
    TouchWaits& waits;  // must outlive the queue and the passes of the gate
  };

  // `parts` must outlive it.
  explicit Touches(const Parts& parts) : parts_(parts) {}

  // Touches items of a container (a number) in the order of the keys, all or none. Each is judged
  // when its touch is committed, as of `read_time` then; the error of `read_time` refuses all.
  // `done` is called when the touches are durable and no delete that is in flight can remove a
  // touched item any more. FAILED_PRECONDITION if the container does not allow touches, NOT_FOUND
  // if it was deleted meanwhile; else errors as in Items. `request` must be valid.
  void Touch(uint64_t container, TouchRequest request, ReadTime read_time, Done<TouchedItems> done);

  // Touches are answered when the deletes in flight now have ended. To be called before data that
  // was in doubt counts as complete: items that counted as touched meanwhile may be in flight since
  // before.
  void AwaitDeletesInFlight();

 private:
  struct Touching;
  static absl::Status TouchAll(ReportTransaction& transaction, Touching& touching);
  static absl::StatusOr<TouchedItem> TouchOne(ReportTransaction& transaction,
                                              const Container& container, const ItemKey& key,
                                              Touching& touching);
  void Answer(std::shared_ptr<Touching> touching, Done<TouchedItems> done);
  static bool MayBeInFlight(const Touching& touching);
  absl::StatusOr<TouchedItems> Settle(Touching& touching) const;

  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_TOUCHES_H_
