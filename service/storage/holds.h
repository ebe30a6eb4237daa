#ifndef TTL_SERVICE_STORAGE_HOLDS_H_
#define TTL_SERVICE_STORAGE_HOLDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/container.h"
#include "service/core/hold/hold.h"
#include "service/core/item.h"

namespace ttl {

class Catalog;
class CommitQueue;
class Database;
class DeleteGate;
class HoldTable;
class ItemReader;
class Tallies;

// What a hold found under one key.
enum class PlaceHoldResult { kHeld = 1, kNotTracked = 2, kAlreadyDeleted = 3 };

// The answer to Place().
struct PlacedHold {
  HoldPtr hold;
  std::vector<PlaceHoldResult> results;  // one per key of the request, in its order
};

// The holds of one container, counted.
struct HoldCounts {
  int64_t holds = 0;
  int64_t on_all_items = 0;     // of `holds`
  int64_t items_set_aside = 0;  // due items that the sweep has moved out of its way
  int64_t ending = 0;           // holds that have ended and whose items are being put back
};

// A page of keys of a hold.
struct HeldKeysPage {
  std::vector<ItemKey> keys;
  std::optional<ItemKey> next;  // the last key of the page; absent at the end
};

// An item as the sweep has found it.
struct HeldItem {
  ItemKey key;
  uint64_t generation = 0;  // see TrackedItem
};

// The holds: their lookup and every change of them. Thread-safe. Errors of all changes, besides
// those named: NOT_FOUND if the container does not exist, UNAVAILABLE if storage refuses writes,
// RESOURCE_EXHAUSTED if too many changes are queued.
class Holds {
 public:
  // The most holds that may name one key.
  static constexpr size_t kMaxHoldsPerKey = 1000;

  struct Parts {
    const Database& database;
    CommitQueue& queue;
    const ItemReader& reader;
    const Catalog& catalog;
    const HoldTable& table;
    const Tallies& tallies;
    DeleteGate& gate;
  };

  // `parts` must outlive it.
  explicit Holds(const Parts& parts) : parts_(parts) {}

  // Places a hold, adds keys to it, or replaces its reason, author and end. `done` is called when
  // the hold is durable and no delete that was in flight when it was committed can still be carried
  // out; on a commit thread, or on the one that gives back the last pass of the delete gate.
  // FAILED_PRECONDITION if the hold has another scope, RESOURCE_EXHAUSTED beyond kMaxHolds, or
  // beyond kMaxHoldsPerKey on one key. `request` must be valid. `now` becomes the create time.
  void Place(std::string container_id, HoldRequest request, absl::Time now, Done<PlacedHold> done);

  // Ends a hold at `now`, from which the lateness of its items counts. NOT_FOUND if there is none.
  void Release(std::string container_id, std::string hold_id, absl::Time now, DoneStatus done);

  // Ends holds whose end is at `now` or earlier: a bounded number of them, and `now` must be no
  // later than any clock. Answers how many. Cheap if there are none.
  void EndReached(absl::Time now, Done<int64_t> done);

  // States at `now` that the holds of the container are complete: those that cannot be read end.
  void Accept(std::string container_id, absl::Time now, DoneStatus done);

  // Moves items out of the way of the sweep: each that is unchanged and that a hold on its
  // partition or key covers leaves the families that are scanned, until that hold ends. Answers how
  // many were moved.
  void SetAside(uint64_t container, std::vector<HeldItem> items, Done<int64_t> done);

  // At most `limit` holds that stand, of one container or (0) of all, behind (`after_container`
  // id, `after_hold` id), in that order. The empty strings come before all. For one container,
  // `after_container` does not matter.
  std::vector<HoldPtr> List(uint64_t container, absl::string_view after_container,
                            absl::string_view after_hold, size_t limit) const;
  // Null if there is none that stands.
  HoldPtr Find(uint64_t container, absl::string_view hold_id) const;
  // In the order of (length of partition key, partition key, id).
  absl::StatusOr<HeldKeysPage> ListKeys(const Hold& hold, const std::optional<ItemKey>& after,
                                        size_t limit) const;

  // Whether any hold of the container stands. Reads nothing from disk.
  bool HasHolds(uint64_t container) const;
  // Whether a hold on all items of the container stands. Reads nothing from disk.
  bool HoldsAll(uint64_t container) const;
  // Whether a hold covers the item. Reads from disk only if the container has holds by key.
  // DATA_LOSS if that cannot be read.
  absl::StatusOr<bool> IsHeld(uint64_t container, const ItemKey& key) const;
  // The holds that cover the item, at most `limit`, in the order of their ids.
  absl::StatusOr<std::vector<HoldPtr>> Covering(uint64_t container, const ItemKey& key,
                                                size_t limit) const;

  // Reads nothing from disk. After a start, items_set_aside is a lower bound until all items are
  // counted (see Tallies).
  HoldCounts Counts(uint64_t container) const;

  // Whether the container requires holds and they are not known to be complete, or one of them is
  // unreadable.
  bool AreInDoubt(const Container& container) const;

 private:
  struct Placing;
  absl::StatusOr<std::vector<uint64_t>> HoldsByKey(uint64_t container, const ItemKey& key) const;
  void AwaitDeletes(std::shared_ptr<Placing> placing, Done<PlacedHold> done);
  absl::StatusOr<PlacedHold> Outcome(const Placing& placing) const;

  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_HOLDS_H_
