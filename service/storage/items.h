#ifndef TTL_SERVICE_STORAGE_ITEMS_H_
#define TTL_SERVICE_STORAGE_ITEMS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "service/base/done.h"
#include "service/core/adoption.h"
#include "service/core/item.h"

namespace ttl {

class CommitQueue;
class DataTrust;
class Database;
class ItemReader;

// A write that the primary store reported.
struct ItemReport {
  ItemKey key;
  ItemVersion version;
};

// A delete that the primary store reported.
struct ItemRemoval {
  // The ts of a delete of which only the sequence is known.
  static constexpr int64_t kNewerThanAnyTs = std::numeric_limits<int64_t>::max();

  ItemKey key;
  int64_t ts = 0;
  std::optional<uint64_t> sequence;
};

// A key by reference.
struct KeyView {
  absl::string_view partition_key;
  absl::string_view id;
};

using FoundTimes = absl::StatusOr<std::optional<ItemTimes>>;

enum class TrackOutcome { kTracked, kStale };
enum class UntrackOutcome { kUntracked, kStale, kNotTracked };

// The tracked items. Containers are named by number (Container::number); a container that was
// deleted meanwhile is NOT_FOUND. The caller validates arguments. Thread-safe. Errors of all
// methods: DATA_LOSS if stored data cannot be read; of changes also UNAVAILABLE if storage refuses
// writes, and RESOURCE_EXHAUSTED if the queue or the disk is full.
class Items {
 public:
  Items(const Database& database, CommitQueue& queue, const ItemReader& reader,
        const DataTrust& trust);

  // Applies reports in order, all or none; answers one outcome each. An item that is already due is
  // adopted if `terms` say so. While the data is in doubt, one that `terms` adopt counts as touched
  // in a container with touches, as in ScannedItems.
  void Track(uint64_t container, std::vector<ItemReport> reports, const AdoptionTerms& terms,
             Done<std::vector<TrackOutcome>> done);

  // Applies removals in order, all or none; answers one outcome each.
  void Untrack(uint64_t container, std::vector<ItemRemoval> removals,
               Done<std::vector<UntrackOutcome>> done);

  // Reads what visibility needs of many items: replaces `times` by one result for each key, in
  // order. A result is absent if the item is not tracked, or if its tracked state is known to be
  // wrong or may be (see DataTrust).
  void FindTimes(uint64_t container, absl::Span<const KeyView> keys,
                 std::vector<FoundTimes>& times) const;

  // Whether the results of Find() and List() are complete.
  const DataTrust& trust() const { return trust_; }

  // The tracked state of one item; absent if it is not tracked.
  absl::StatusOr<std::optional<TrackedItem>> Find(uint64_t container, const ItemKey& key) const;

  // At most `limit` items of a container, in the order of (length of partition key, partition key,
  // id), only those behind `after`.
  absl::StatusOr<std::vector<std::pair<ItemKey, TrackedItem>>> List(
      uint64_t container, const std::optional<ItemKey>& after, size_t limit) const;

 private:
  const Database& database_;
  CommitQueue& queue_;
  const ItemReader& reader_;
  const DataTrust& trust_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ITEMS_H_
