#include "service/storage/items.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/core/state/data_trust.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/report_transaction.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

namespace ttl {
namespace {

absl::StatusOr<ContainerPtr> LivingContainer(const ReportTransaction& transaction,
                                             uint64_t number) {
  ContainerPtr container = transaction.FindContainer(number);
  if (container == nullptr)
    return MakeError(Reason::kContainerNotFound, "the container was deleted meanwhile");
  return container;
}

absl::StatusOr<TrackOutcome> TrackOne(ReportTransaction& transaction, const Container& container,
                                      const ItemReport& report, const AdoptionTerms& terms,
                                      bool in_doubt) {
  TTL_ASSIGN_OR_RETURN(const StoredItemPtr before,
                       transaction.GetItem(container.number, report.key));
  const ItemVersion& version = report.version;
  // As in a scan of the store, which an import stands for.
  const bool counts_as_touched = in_doubt && terms.adopted && container.has_touches;
  if (before != nullptr && !before->state_unknown &&
      IsOlder(transaction.StoreEpoch(), version.times.ts, version.sequence, *before)) {
    if (!counts_as_touched) return TrackOutcome::kStale;
    if (auto after = CountedAsTouched(*before, absl::ToUnixSeconds(terms.latest))) {
      transaction.PutTouchedItem(container, report.key, before, *std::move(after));
    }
    return TrackOutcome::kStale;
  }
  transaction.PutReportedItem(container, report.key, before,
                              NextReported(container, terms, before, version, counts_as_touched));
  return TrackOutcome::kTracked;
}

absl::StatusOr<UntrackOutcome> UntrackOne(ReportTransaction& transaction,
                                          const Container& container, const ItemRemoval& removal) {
  TTL_ASSIGN_OR_RETURN(const StoredItemPtr before,
                       transaction.GetItem(container.number, removal.key));
  if (before != nullptr && !before->state_unknown &&
      IsOlder(transaction.StoreEpoch(), removal.ts, removal.sequence, *before)) {
    return UntrackOutcome::kStale;
  }
  if (before != nullptr) transaction.EraseItem(container, removal.key, before);
  // Last: a removal may be newer than what is tracked.
  transaction.NoteRemoval(container, removal.key, removal.ts, removal.sequence);
  return before == nullptr ? UntrackOutcome::kNotTracked : UntrackOutcome::kUntracked;
}

// Submits one operation that treats `entries` one by one with `apply_one` and
// answers what that returned for each.
template <typename Entry, typename ApplyOne, typename Outcome>
void SubmitEach(CommitQueue& queue, uint64_t container, std::vector<Entry> entries,
                ApplyOne apply_one, Done<std::vector<Outcome>> done) {
  size_t bytes = 0;
  for (const Entry& entry : entries) {
    bytes += sizeof(Entry) + entry.key.partition_key.size() + entry.key.id.size();
  }
  auto outcomes = std::make_shared<std::vector<Outcome>>();
  auto apply = [container, entries = std::move(entries), apply_one,
                outcomes](ReportTransaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(const ContainerPtr living, LivingContainer(transaction, container));
    outcomes->reserve(entries.size());
    for (const Entry& entry : entries) {
      TTL_ASSIGN_OR_RETURN(const Outcome outcome, apply_one(transaction, *living, entry));
      outcomes->push_back(outcome);
    }
    return absl::OkStatus();
  };
  queue.SubmitReport(bytes, std::move(apply),
                     [outcomes, done = std::move(done)](absl::Status status) mutable {
                       if (status.ok()) {
                         done(std::move(*outcomes));
                       } else {
                         done(std::move(status));
                       }
                     });
}

}  // namespace

Items::Items(const Database& database, CommitQueue& queue, const ItemReader& reader,
             const DataTrust& trust)
    : database_(database), queue_(queue), reader_(reader), trust_(trust) {}

void Items::Track(uint64_t container, std::vector<ItemReport> reports, const AdoptionTerms& terms,
                  Done<std::vector<TrackOutcome>> done) {
  auto track = [this, terms](ReportTransaction& transaction, const Container& living,
                             const ItemReport& report) {
    return TrackOne(transaction, living, report, terms, trust_.in_doubt());
  };
  SubmitEach(queue_, container, std::move(reports), std::move(track), std::move(done));
}

void Items::Untrack(uint64_t container, std::vector<ItemRemoval> removals,
                    Done<std::vector<UntrackOutcome>> done) {
  SubmitEach(queue_, container, std::move(removals), &UntrackOne, std::move(done));
}

void Items::FindTimes(uint64_t container, absl::Span<const KeyView> keys,
                      std::vector<FoundTimes>& times) const {
  if (trust_.in_doubt()) {
    times.assign(keys.size(), FoundTimes(std::nullopt));
    return;
  }
  // Kept per thread, so that the hot path allocates nothing for the keys.
  thread_local std::string encoded;
  thread_local std::vector<RecordCache::Lookup> lookups;
  size_t bytes = 0;
  for (const KeyView& key : keys) bytes += ItemKeySize(key.partition_key, key.id);
  encoded.clear();
  encoded.reserve(bytes);  // so that the views into it stay
  lookups.clear();
  for (const KeyView& key : keys) {
    const size_t begin = encoded.size();
    AppendItemKey(container, key.partition_key, key.id, encoded);
    lookups.push_back({absl::string_view(encoded).substr(begin)});
  }
  reader_.ReadTimes(absl::MakeSpan(lookups), times);
}

absl::StatusOr<std::optional<TrackedItem>> Items::Find(uint64_t container,
                                                       const ItemKey& key) const {
  TTL_ASSIGN_OR_RETURN(const StoredItemPtr item, reader_.Read(EncodeItemKey(container, key)));
  if (item == nullptr) return std::nullopt;
  return ToTracked(*item);
}

absl::StatusOr<std::vector<std::pair<ItemKey, TrackedItem>>> Items::List(
    uint64_t container, const std::optional<ItemKey>& after, size_t limit) const {
  const std::string prefix = ItemPrefix(container);
  // The smallest key after another is that key with a zero byte appended.
  const std::string start = after.has_value() ? EncodeItemKey(container, *after) + '\0' : prefix;
  std::vector<std::pair<ItemKey, TrackedItem>> page;
  auto cursor = database_.ReadPrefix(prefix, start);
  for (; cursor.Valid() && page.size() < limit; cursor.Next()) {
    std::optional<ItemKey> key = DecodeItemKey(cursor.key());
    if (!key.has_value()) return absl::DataLossError("the key of an item is truncated");
    TTL_ASSIGN_OR_RETURN(const StoredItem item, DecodeStoredItem(cursor.value()));
    page.emplace_back(*std::move(key), ToTracked(item));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return page;
}

}  // namespace ttl
