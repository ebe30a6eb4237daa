#include "service/storage/expiry_index.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "service/core/status_macros.h"
#include "service/storage/commit_queue.h"
#include "service/storage/database.h"
#include "service/storage/item_reader.h"
#include "service/storage/key_codec.h"
#include "service/storage/low_water_marks.h"
#include "service/storage/stored_item.h"
#include "service/storage/transaction.h"

namespace ttl {
namespace {

constexpr IndexFamily kFamilies[] = {IndexFamily::kExpireTime, IndexFamily::kTs,
                                     IndexFamily::kRetryTime};

// Entries looked at for one page of stuck items.
constexpr size_t kMaxStuckExamined = 5000;

// How long after the time of its entry an item of the family is due; absent if
// it never is.
std::optional<int64_t> WaitOf(const DueRule& rule, IndexFamily family) {
  switch (family) {
    case IndexFamily::kExpireTime:
      return rule.own_extra;
    case IndexFamily::kTs:
      return rule.inherited_wait;
    case IndexFamily::kRetryTime:
      if (rule.own_extra.has_value() || rule.inherited_wait.has_value()) return 0;
      return std::nullopt;
  }
  return std::nullopt;
}

// Reads the item an entry stands for; absent if none claims that entry.
absl::StatusOr<StoredItemPtr> ReadClaimant(const ItemReader& reader, const Container& container,
                                           const IndexEntry& entry) {
  TTL_ASSIGN_OR_RETURN(StoredItemPtr item, reader.Read(EncodeItemKey(container.number, entry.key)));
  const IndexClaim claim{container.index_number, entry.family, entry.time};
  if (item != nullptr && item->claim == claim) return item;
  return StoredItemPtr();
}

void TidyOne(Transaction& transaction, const Container& container, const IndexEntry& entry,
             const StoredItemPtr& before, int64_t& changed) {
  const IndexClaim claim{container.index_number, entry.family, entry.time};
  if (before == nullptr || before->claim != claim) {
    transaction.EraseEntry(container.index_number, entry);
    ++changed;
    return;
  }
  StoredItem after = *before;
  after.claim = BelongsAt(container.index_number, before->version.times).value_or(IndexClaim());
  if (after.claim == before->claim) return;
  transaction.PutItem(container, entry.key, before, std::move(after));
  ++changed;
}

void ApplyReport(Transaction& transaction, const Container& container, const DeleteReport& report,
                 const StoredItemPtr& before) {
  if (report.kind == DeleteReport::Kind::kGone) {
    transaction.EraseItem(container, report.key, before);
    return;
  }
  StoredItem after = *before;
  if (report.kind == DeleteReport::Kind::kModified) {
    after = StoredItem();
    after.version = report.current;
    after.generation = before->generation + 1;
    transaction.PutReportedItem(container, report.key, before, std::move(after));
    return;
  }
  if (report.kind == DeleteReport::Kind::kStateUnknown) after.state_unknown = true;
  if (report.counts_as_attempt) ++after.attempts;
  if (!report.error.empty()) after.last_error = report.error;
  if (container.index_number != 0) {
    after.claim = {container.index_number, IndexFamily::kRetryTime,
                   std::max<int64_t>(report.retry_time, 0)};
  }
  transaction.PutItem(container, report.key, before, std::move(after));
}

// Submits an operation that counts what it changed. A container that is gone has
// nothing to change.
template <typename Entry, typename ApplyOne>
void SubmitCounting(CommitQueue& queue, uint64_t container, std::vector<Entry> entries,
                    ApplyOne apply_one, Done<int64_t> done) {
  auto changed = std::make_shared<int64_t>(0);
  const size_t bytes = entries.size() * sizeof(Entry);
  auto apply = [container, entries = std::move(entries), apply_one,
                changed](Transaction& transaction) -> absl::Status {
    const ContainerPtr living = transaction.FindContainer(container);
    if (living == nullptr) return absl::OkStatus();
    for (const Entry& entry : entries) {
      TTL_ASSIGN_OR_RETURN(const StoredItemPtr before, transaction.GetItem(container, entry.key));
      apply_one(transaction, *living, entry, before, *changed);
    }
    return absl::OkStatus();
  };
  queue.Submit(CommitQueue::Place::kReserved, bytes, std::move(apply),
               [changed, done = std::move(done)](absl::Status status) mutable {
                 if (status.ok()) {
                   done(*changed);
                 } else {
                   done(std::move(status));
                 }
               });
}

}  // namespace

ExpiryIndex::ExpiryIndex(const Database& database, const ItemReader& reader, LowWaterMarks& marks,
                         CommitQueue& queue)
    : database_(database), reader_(reader), marks_(marks), queue_(queue) {}

std::optional<int64_t> ExpiryIndex::NextDueTime(const Container& container,
                                                const DueRule& rule) const {
  std::optional<int64_t> next;
  if (container.index_number == 0) return next;
  for (const IndexFamily family : kFamilies) {
    const std::optional<int64_t> wait = WaitOf(rule, family);
    const int64_t mark = marks_.Get(container.index_number, family);
    if (!wait.has_value() || mark > LowWaterMarks::kEmpty - *wait - 1) continue;
    next = std::min(next.value_or(LowWaterMarks::kEmpty), mark + *wait);
  }
  return next;
}

absl::StatusOr<DueScan> ExpiryIndex::ScanDue(const Container& container, const DueRule& rule,
                                             int64_t now_seconds, const ScanLimits& limits) {
  DueScan scan;
  if (container.index_number == 0) return scan;
  for (const IndexFamily family : kFamilies) {
    TTL_RETURN_IF_ERROR(ScanFamily(container, rule, family, now_seconds, limits, scan));
  }
  std::stable_sort(scan.due.begin(), scan.due.end(),
                   [](const DueItem& a, const DueItem& b) { return a.due_time < b.due_time; });
  if (scan.due.size() > limits.max_due) {
    scan.due.resize(limits.max_due);
    scan.more = true;
  }
  return scan;
}

absl::Status ExpiryIndex::ScanFamily(const Container& container, const DueRule& rule,
                                     IndexFamily family, int64_t now_seconds,
                                     const ScanLimits& limits, DueScan& scan) {
  const std::optional<int64_t> wait = WaitOf(rule, family);
  if (!wait.has_value()) return absl::OkStatus();
  const uint64_t index = container.index_number;
  const int64_t mark = marks_.BeginScan(index, family);
  // A seek to the end of a family would walk what is erased at the front of the next.
  if (mark == LowWaterMarks::kEmpty && !limits.from_the_beginning) return absl::OkStatus();
  auto cursor =
      database_.ReadPrefix(IndexFamilyPrefix(index, family),
                           IndexSeekKey(index, family, limits.from_the_beginning ? 0 : mark));
  bool first = true;
  size_t examined = 0;
  size_t due = 0;
  for (; cursor.Valid(); cursor.Next()) {
    std::optional<IndexEntry> entry = DecodeIndexKey(cursor.key());
    if (!entry.has_value()) return absl::DataLossError("an index entry is unreadable");
    if (std::exchange(first, false)) marks_.EndScan(index, family, entry->time);
    if (entry->time > now_seconds - *wait) return absl::OkStatus();
    if (due == limits.max_due || examined == limits.max_examined) {
      scan.more = true;
      return absl::OkStatus();
    }
    ++examined;
    const absl::StatusOr<StoredItemPtr> item = ReadClaimant(reader_, container, *entry);
    if (!item.ok()) {
      ++scan.unreadable;
      continue;
    }
    const std::optional<int64_t> due_time =
        *item == nullptr ? std::nullopt : DueTime(rule, (*item)->version.times);
    if (!due_time.has_value() || *due_time > now_seconds) {
      scan.early.push_back(*std::move(entry));
      continue;
    }
    ++due;
    scan.due.push_back({std::move(entry->key), ToTracked(**item), *due_time});
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  if (first) marks_.EndScan(index, family, LowWaterMarks::kEmpty);
  return absl::OkStatus();
}

absl::StatusOr<Backlog> ExpiryIndex::CountDue(const Container& container, const DueRule& rule,
                                              int64_t now_seconds, size_t limit) const {
  Backlog backlog;
  if (container.index_number == 0) return backlog;
  for (const IndexFamily family : kFamilies) {
    TTL_RETURN_IF_ERROR(CountFamily(container, rule, family, now_seconds, limit, backlog));
  }
  return backlog;
}

absl::Status ExpiryIndex::CountFamily(const Container& container, const DueRule& rule,
                                      IndexFamily family, int64_t now_seconds, size_t limit,
                                      Backlog& backlog) const {
  const std::optional<int64_t> wait = WaitOf(rule, family);
  if (!wait.has_value()) return absl::OkStatus();
  const uint64_t index = container.index_number;
  // Items that wait for another try are due all the same, so all of them count,
  // and each must be looked at: they do not stand in the order of their due time.
  const bool in_due_order = family != IndexFamily::kRetryTime;
  const int64_t mark = marks_.Get(index, family);
  if (mark == LowWaterMarks::kEmpty) return absl::OkStatus();
  bool oldest_found = false;
  auto cursor =
      database_.ReadPrefix(IndexFamilyPrefix(index, family), IndexSeekKey(index, family, mark));
  for (; cursor.Valid(); cursor.Next()) {
    const std::optional<IndexEntry> entry = DecodeIndexKey(cursor.key());
    if (!entry.has_value()) return absl::DataLossError("an index entry is unreadable");
    if (in_due_order && entry->time > now_seconds - *wait) break;
    if (backlog.count >= static_cast<int64_t>(limit)) {
      backlog.is_lower_bound = true;
      break;
    }
    ++backlog.count;
    if (in_due_order && oldest_found) continue;
    const absl::StatusOr<StoredItemPtr> item = ReadClaimant(reader_, container, *entry);
    if (!item.ok() || *item == nullptr) continue;
    const std::optional<int64_t> due_time = DueTime(rule, (*item)->version.times);
    if (!due_time.has_value() || *due_time > now_seconds) continue;
    oldest_found = true;
    backlog.oldest_due_time = std::min(backlog.oldest_due_time.value_or(*due_time), *due_time);
  }
  return cursor.status();
}

absl::StatusOr<StuckPage> ExpiryIndex::ListStuck(const Container& container,
                                                 const std::optional<StuckPage::Position>& after,
                                                 size_t limit) const {
  StuckPage page;
  if (container.index_number == 0) return page;
  constexpr IndexFamily kFamily = IndexFamily::kRetryTime;
  const uint64_t index = container.index_number;
  const int64_t mark = marks_.Get(index, kFamily);
  if (mark == LowWaterMarks::kEmpty) return page;
  // The smallest key after another is that key with a zero byte appended.
  const std::string start =
      after.has_value() ? EncodeIndexKey(index, kFamily, after->next_try_time, after->key) + '\0'
                        : IndexSeekKey(index, kFamily, mark);
  std::optional<StuckPage::Position> last;
  size_t examined = 0;
  auto cursor = database_.ReadPrefix(IndexFamilyPrefix(index, kFamily), start);
  for (; cursor.Valid(); cursor.Next()) {
    if (page.items.size() == limit || examined++ == kMaxStuckExamined) {
      page.next = std::move(last);
      return page;
    }
    std::optional<IndexEntry> entry = DecodeIndexKey(cursor.key());
    if (!entry.has_value()) return absl::DataLossError("an index entry is unreadable");
    last = {entry->time, entry->key};
    const absl::StatusOr<StoredItemPtr> item = ReadClaimant(reader_, container, *entry);
    if (!item.ok() || *item == nullptr) continue;
    if ((*item)->attempts == 0 && (*item)->last_error.empty()) continue;
    page.items.push_back(
        {std::move(entry->key), (*item)->attempts, (*item)->last_error, entry->time});
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return page;
}

void ExpiryIndex::Tidy(uint64_t container, std::vector<IndexEntry> entries, Done<int64_t> done) {
  SubmitCounting(queue_, container, std::move(entries), TidyOne, std::move(done));
}

void ExpiryIndex::ApplyOutcomes(uint64_t container, std::vector<DeleteReport> reports,
                                Done<int64_t> done) {
  SubmitCounting(
      queue_, container, std::move(reports),
      [](Transaction& transaction, const Container& living, const DeleteReport& report,
         const StoredItemPtr& before, int64_t& applied) {
        if (before == nullptr || before->generation != report.generation) return;
        ApplyReport(transaction, living, report, before);
        ++applied;
      },
      std::move(done));
}

}  // namespace ttl
