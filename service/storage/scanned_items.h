#ifndef TTL_SERVICE_STORAGE_SCANNED_ITEMS_H_
#define TTL_SERVICE_STORAGE_SCANNED_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "service/base/done.h"
#include "service/core/item.h"
#include "service/storage/items.h"

namespace ttl {

class Catalog;
class CommitQueue;
class DataTrust;
class Database;
class ScanMarks;
class Tallies;

// How an item read from the primary store compares with the tracked state.
enum class ScanOutcome {
  kSame,       // tracked with this ts, ttl and etag
  kMissing,    // not tracked
  kDiffering,  // tracked in an older version, or in another of the same order
  kNewer,      // tracked in a newer version, or reported while it was read
};

struct ScanComparison {
  ScanOutcome outcome = ScanOutcome::kSame;
  std::optional<ItemVersion> tracked;  // before; absent if it was not
};

// Compares the tracked items with those of the primary store, and makes them agree. One container
// at a time, page by page, while reports continue; ScanMarks explains why reports that arrive
// meanwhile win. For one thread. Errors are those of Items.
class ScannedItems {
 public:
  ScannedItems(const Database& database, CommitQueue& queue, const Catalog& catalog,
               const Tallies& tallies, const DataTrust& trust, ScanMarks& marks);

  // A scan of the container begins; it lasts until End().
  void Begin(uint64_t container);
  // Call it before the store is asked for the next items.
  void BeginPage();
  void End();

  // Compares items that were read since BeginPage() and, unless it is a dry run, tracks those that
  // are missing or differ, all or none. ABORTED if too much was reported since BeginPage(), or if
  // the store was confirmed: the page must be read again. If the store does not know expire_at
  // (`knows_expire_at` is false), an item keeps its tracked expire_at, and an item with neither ttl
  // nor expire_at is not adopted into a container whose items may have one. In a container with
  // touches an item whose touches may be lost counts as touched now: one that was not tracked, and
  // every one while the data is in doubt.
  void Apply(uint64_t container, std::vector<ItemReport> items, const AdoptionTerms& terms,
             bool knows_expire_at, bool dry_run, Done<std::vector<ScanComparison>> done);

  // Tracked items that the store did not return and that were not reported since Begin().
  struct UnseenPage {
    std::vector<std::pair<ItemKey, ItemVersion>> items;
    std::optional<ItemKey> reached;  // absent: nothing is left
  };
  // Examines at most `limit` items, those behind `after`.
  absl::StatusOr<UnseenPage> FindUnseen(uint64_t container, const std::optional<ItemKey>& after,
                                        size_t limit) const;

 private:
  const Database& database_;
  CommitQueue& queue_;
  const Catalog& catalog_;
  const Tallies& tallies_;
  const DataTrust& trust_;
  ScanMarks& marks_;
  uint64_t page_epoch_ = 0;  // the store epoch in which the page is read
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_SCANNED_ITEMS_H_
