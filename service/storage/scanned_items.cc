#include "service/storage/scanned_items.h"

#include <memory>
#include <string>

#include "service/base/status_macros.h"
#include "service/core/state/data_trust.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/report_transaction.h"
#include "service/storage/commit/scan_marks.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

namespace ttl {
namespace {

// Keys that may turn up which are not tracked yet, in a small container.
constexpr int64_t kSpareKeys = int64_t{1} << 20;

// Whether they are one version of the item. Its sequence does not say: to a store that has
// none of its own, such as a table, it is the position at which the item was read.
bool IsSame(const ItemVersion& stored, const ItemVersion& tracked) {
  return IsSameWrite(stored.times, tracked.times) && stored.etag == tracked.etag;
}

// Whether the store says more of the same version than is tracked.
bool SaysMore(const ItemVersion& stored, const ItemVersion& tracked) {
  return IsOlderReport(tracked.times.ts, tracked.sequence, stored) ||
         (stored.sequence.has_value() && !tracked.sequence.has_value()) ||
         (stored.size_bytes != 0 && stored.size_bytes != tracked.size_bytes);
}

ScanOutcome CompareUntracked(const ItemVersion& stored,
                             const std::optional<ScanMarks::Mark>& mark) {
  if (!mark.has_value() || !mark->removed) return ScanOutcome::kMissing;
  const bool is_newer = IsOlderReport(mark->ts, mark->sequence, stored);
  return is_newer ? ScanOutcome::kMissing : ScanOutcome::kNewer;
}

ScanOutcome CompareTracked(const ItemVersion& stored, const StoredItem& tracked, uint64_t epoch,
                           bool is_marked) {
  if (tracked.state_unknown) return is_marked ? ScanOutcome::kNewer : ScanOutcome::kDiffering;
  if (IsSame(stored, tracked.version)) return ScanOutcome::kSame;
  if (tracked.store_epoch < epoch) return ScanOutcome::kDiffering;
  if (IsOlderReport(stored.times.ts, stored.sequence, tracked.version)) return ScanOutcome::kNewer;
  const bool is_newer = IsOlderReport(tracked.version.times.ts, tracked.version.sequence, stored);
  return is_newer || !is_marked ? ScanOutcome::kDiffering : ScanOutcome::kNewer;
}

// What Apply() knows besides its items.
struct ApplyTerms {
  AdoptionTerms adoption;
  bool knows_expire_at = false;
  bool dry_run = false;
};

// Whether touches of an item may be lost. Then it counts as touched now: it may expire late, and
// never early.
bool MayHaveLostTouch(const Container& container, const StoredItemPtr& before, bool in_doubt) {
  return container.has_touches && (before == nullptr || in_doubt);
}

absl::StatusOr<ScanComparison> ApplyOne(ReportTransaction& transaction, const Container& container,
                                        ScanMarks& marks, ItemReport item, const ApplyTerms& terms,
                                        bool in_doubt) {
  const std::string encoded = EncodeItemKey(container.number, item.key);
  TTL_ASSIGN_OR_RETURN(const StoredItemPtr before, transaction.GetItem(container.number, item.key));
  if (!terms.knows_expire_at && before != nullptr && !item.version.times.expire_at.has_value()) {
    item.version.times.expire_at = before->version.times.expire_at;
  }
  const std::optional<ScanMarks::Mark> mark = marks.Find(encoded);
  marks.NoteSeen(encoded);
  ScanComparison comparison;
  // Such a store cannot tell whether an untracked item inherits default_ttl or ends later by an
  // expire_at: it stays untracked until it is reported.
  const ItemTimes& times = item.version.times;
  const bool may_inherit_wrongly = !terms.knows_expire_at && before == nullptr &&
                                   container.has_expire_at && !times.ttl.has_value() &&
                                   !times.expire_at.has_value();
  if (before == nullptr) {
    comparison.outcome = CompareUntracked(item.version, mark);
  } else {
    comparison.outcome =
        CompareTracked(item.version, *before, transaction.StoreEpoch(), mark.has_value());
    comparison.tracked = before->version;
  }
  const bool is_change =
      comparison.outcome == ScanOutcome::kMissing || comparison.outcome == ScanOutcome::kDiffering;
  // An equal item becomes a version of this epoch, so that later versions are compared with it.
  const bool counts_as_touched = MayHaveLostTouch(container, before, in_doubt);
  const bool is_refreshed = comparison.outcome == ScanOutcome::kSame &&
                            (before->store_epoch < transaction.StoreEpoch() || counts_as_touched ||
                             (!mark.has_value() && SaysMore(item.version, before->version)));
  if (terms.dry_run || may_inherit_wrongly) return comparison;
  if (is_change || is_refreshed) {
    transaction.PutReportedItem(
        container, item.key, before,
        NextReported(container, terms.adoption, before, item.version, counts_as_touched));
  } else if (before != nullptr && counts_as_touched) {
    if (auto after = CountedAsTouched(*before, absl::ToUnixSeconds(terms.adoption.latest))) {
      transaction.PutTouchedItem(container, item.key, before, *std::move(after));
    }
  }
  return comparison;
}

}  // namespace

ScannedItems::ScannedItems(const Database& database, CommitQueue& queue, const Catalog& catalog,
                           const Tallies& tallies, const DataTrust& trust, ScanMarks& marks)
    : database_(database),
      queue_(queue),
      catalog_(catalog),
      tallies_(tallies),
      trust_(trust),
      marks_(marks) {}

void ScannedItems::Begin(uint64_t container) {
  marks_.BeginScan(container, 2 * tallies_.Tracked(container).items + kSpareKeys);
}

void ScannedItems::BeginPage() {
  page_epoch_ = catalog_.StoreEpoch();
  marks_.BeginPage();
}

void ScannedItems::End() { marks_.EndScan(); }

void ScannedItems::Apply(uint64_t container, std::vector<ItemReport> items,
                         const AdoptionTerms& terms, bool knows_expire_at, bool dry_run,
                         Done<std::vector<ScanComparison>> done) {
  size_t bytes = 0;
  for (const ItemReport& item : items) {
    bytes += sizeof(item) + item.key.partition_key.size() + item.key.id.size();
  }
  auto comparisons = std::make_shared<std::vector<ScanComparison>>();
  auto apply = [this, container, items = std::move(items), epoch = page_epoch_,
                terms = ApplyTerms{terms, knows_expire_at, dry_run},
                comparisons](ReportTransaction& transaction) -> absl::Status {
    const ContainerPtr living = transaction.FindContainer(container);
    if (living == nullptr) return absl::NotFoundError("the container was deleted meanwhile");
    if (!marks_.IsComplete(container)) {
      return absl::AbortedError("too many reports arrived while a page of items was read");
    }
    if (transaction.StoreEpoch() != epoch) {
      return absl::AbortedError("the store was confirmed while a page of items was read");
    }
    comparisons->reserve(items.size());
    for (const ItemReport& item : items) {
      TTL_ASSIGN_OR_RETURN(ScanComparison comparison,
                           ApplyOne(transaction, *living, marks_, item, terms, trust_.in_doubt()));
      comparisons->push_back(std::move(comparison));
    }
    return absl::OkStatus();
  };
  queue_.SubmitReport(bytes, std::move(apply),
                      [comparisons, done = std::move(done)](absl::Status status) mutable {
                        if (!status.ok()) return done(std::move(status));
                        done(std::move(*comparisons));
                      });
}

absl::StatusOr<ScannedItems::UnseenPage> ScannedItems::FindUnseen(
    uint64_t container, const std::optional<ItemKey>& after, size_t limit) const {
  const std::string prefix = ItemPrefix(container);
  const std::string start = after.has_value() ? EncodeItemKey(container, *after) + '\0' : prefix;
  UnseenPage page;
  auto cursor = database_.WalkPrefix(prefix, start);
  for (size_t looked = 0; cursor.Valid() && looked < limit; ++looked, cursor.Next()) {
    std::optional<ItemKey> key = DecodeItemKey(cursor.key());
    if (!key.has_value()) return absl::DataLossError("the key of an item is truncated");
    page.reached = *key;
    if (marks_.WasSeen(cursor.key())) continue;
    TTL_ASSIGN_OR_RETURN(StoredItem item, DecodeStoredItem(cursor.value()));
    page.items.emplace_back(*std::move(key), std::move(item.version));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  if (!cursor.Valid()) page.reached.reset();
  return page;
}

}  // namespace ttl
