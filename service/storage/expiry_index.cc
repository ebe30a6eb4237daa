#include "service/storage/expiry_index.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "service/base/saturated_add.h"
#include "service/base/status_macros.h"
#include "service/core/adoption.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/engine/database.h"
#include "service/storage/engine/index_cursor.h"
#include "service/storage/feed/event_writer.h"
#include "service/storage/feed/feed_log.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/stored_item.h"

// An index entry is only a hint that its item may be due: it may be too early, and belong to no
// item any more. A scan reads the entries of each family from its low-water mark on, up to the last
// time at which an entry can stand for a due item (LastTime). It reads the items of many entries
// together, because neighbours are cheaper that way, and judges each item. Due items are returned;
// the other entries are returned for Tidy(), which moves or erases them.
//
// A scan also raises the low-water mark to the first entry that it found. If the items at the front
// cannot be read because they are damaged, the mark is moved behind them (PassDamaged); otherwise
// they would use up the limits of every scan.
//
// The family of kGated is scanned up to what the gates of the container let pass, so its other
// items cost nothing.
//
// Only in the families of kExpireTime and kTs is the order of entries the order in which their
// items are due. There the first due item is the one that has been due for longest. In the
// others every entry must be examined, so that figures about them cover a bounded number.
namespace ttl {
namespace {

// Entries whose items are read together.
constexpr size_t kScannedTogether = 512;

// Those that are scanned: an item in kHeld is not due before its hold ends.
constexpr IndexFamily kFamilies[] = {IndexFamily::kExpireTime, IndexFamily::kTs,
                                     IndexFamily::kRetryTime, IndexFamily::kAdopted,
                                     IndexFamily::kGated};

// Entries of a family looked at for the oldest due item.
constexpr int kMaxOldestExamined = 64;

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
    case IndexFamily::kAdopted:
    case IndexFamily::kHeld:
    case IndexFamily::kGated:
      if (rule.own_extra.has_value() || rule.inherited_wait.has_value()) return 0;
      return std::nullopt;
  }
  return std::nullopt;
}

// The last place of the family of kGated that the gates have passed; absent if it need not be
// looked at.
std::optional<int64_t> LastPassed(const FeedLog& log, const Container& container) {
  if (!log.MayHaveGated()) return std::nullopt;
  constexpr uint64_t kAll = LowWaterMarks::kEmpty - 1;
  return static_cast<int64_t>(std::min(log.Gates(container.feed.number).passed, kAll));
}

// When an entry of the family at `time` may be due first.
int64_t MayBeDueAt(const Container& container, IndexFamily family, int64_t time, int64_t wait) {
  return family == IndexFamily::kAdopted ? AdoptionEnd(container, time) : time + wait;
}

// Whether entries of the family stand in the order in which their items are due.
bool IsInDueOrder(IndexFamily family) {
  return family == IndexFamily::kExpireTime || family == IndexFamily::kTs;
}

// First second at which the item may be deleted; absent if it never may.
std::optional<int64_t> DueTimeOf(const Container& container, const DueRule& rule,
                                 const StoredItem& item) {
  const std::optional<int64_t> due = DueTime(rule, item.version.times);
  if (!due.has_value()) return std::nullopt;
  return std::max(*due, AdoptionEnd(container, item.adopted_until));
}

// Since when the item waits for its delete: one that was tried joins the end of the queue at the
// time of its next try, so that those that always fail keep back no others.
int64_t WaitsSince(const DueItem& item) {
  return std::max(item.due_time, item.item.retry_time.value_or(item.due_time));
}

// Reads the item of an entry; absent if the item names another entry or does not exist.
absl::StatusOr<StoredItemPtr> ReadOwner(const ItemReader& reader, const Container& container,
                                        const IndexEntry& entry) {
  TTL_ASSIGN_OR_RETURN(StoredItemPtr item, reader.Read(EncodeItemKey(container.number, entry.key)));
  const EntryPosition position{container.index_number, entry.family, entry.time};
  if (item != nullptr && item->position == position) return item;
  return StoredItemPtr();
}

// Whether an entry from `mark` on may count as due up to `last_time`. Items that wait for another
// try are due all the same.
bool MayHaveDue(IndexFamily family, const IndexPlace& mark, int64_t last_time) {
  if (mark.time == LowWaterMarks::kEmpty) return false;
  return family == IndexFamily::kRetryTime || mark.time <= last_time;
}

// `mark`, or where entries begin whose items became due since kFirstSoundTime: of a family in the
// order in which its items are due, which they are `wait` after their entry.
IndexPlace SkipUnsound(const IndexPlace& mark, int64_t wait) {
  const int64_t first = SaturatedAdd(kFirstSoundTime, -wait);
  return mark.time < first ? IndexPlace{first} : mark;
}

// `after` is changed to what the item of `entry` is to be.
void MoveOne(Transaction& transaction, const Container& container, const IndexEntry& entry,
             const StoredItemPtr& before,
             absl::FunctionRef<void(uint64_t index, StoredItem& after)> change, int64_t& changed) {
  const EntryPosition position{container.index_number, entry.family, entry.time};
  if (before == nullptr || before->position != position) {
    transaction.EraseEntry(container.index_number, entry);
    ++changed;
    return;
  }
  StoredItem after = *before;
  change(container.index_number, after);
  if (after.position == before->position) return;
  transaction.PutItem(container, entry.key, before, std::move(after));
  ++changed;
}

void TidyOne(Transaction& transaction, const Container& container, const IndexEntry& entry,
             const StoredItemPtr& before, int64_t& changed) {
  const auto tidy = [&entry](uint64_t index, StoredItem& after) {
    // It has waited for long enough, and is not due for another reason.
    if (entry.family == IndexFamily::kAdopted) after.adopted_until = 0;
    after.position = BelongsAt(index, after).value_or(EntryPosition());
  };
  MoveOne(transaction, container, entry, before, tidy, changed);
}

void FileOne(Transaction& transaction, const Container& container, const IndexEntry& entry,
             const StoredItemPtr& before, int64_t& changed) {
  const auto file = [](uint64_t index, StoredItem& after) {
    StoredItem confirmed = after;
    confirmed.adopted_until = 0;
    after.position = BelongsAt(index, confirmed).value_or(EntryPosition());
  };
  MoveOne(transaction, container, entry, before, file, changed);
}

Purge PurgeOf(const DeleteReport& report) {
  return {report.lateness_seconds, report.expired_sequence};
}

// Logs the delete of a version that was reported again, replaced or removed since it was judged;
// `before` is what is tracked now.
void LogDropped(Transaction& transaction, const Container& container, const DeleteReport& report,
                const StoredItemPtr& before) {
  const bool is_deleted = report.kind == DeleteReport::Kind::kGone && report.deleted;
  if (!is_deleted || !container.feed.is_on()) return;
  if (before != nullptr && before->expired_sequence == report.expired_sequence) {
    StoredItem after = *before;
    if (!LogPurged(transaction.feed(), container, report.key, after, PurgeOf(report))) return;
    LeaveGates(container.index_number, after);
    transaction.PutItem(container, report.key, before, std::move(after));
    return;
  }
  LogSuperseded(transaction.feed(), container, report.key, report.times, PurgeOf(report));
}

void ApplyReport(Transaction& transaction, const Container& container, const DeleteReport& report,
                 const StoredItemPtr& before) {
  if (report.kind == DeleteReport::Kind::kGone) {
    // It was revived since it was judged.
    const bool was_revived = !container.feed.IsAnnounced(before->expired_sequence);
    if (was_revived) LogDropped(transaction, container, report, before);
    const std::optional<Purge> purge =
        report.deleted ? std::optional(PurgeOf(report)) : std::nullopt;
    transaction.EraseItem(container, report.key, before, purge);
    return;
  }
  const bool is_modified = report.kind == DeleteReport::Kind::kModified;
  StoredItem after = is_modified ? NextVersion(before, report.current) : *before;
  if (report.kind == DeleteReport::Kind::kStateUnknown) after.state_unknown = true;
  if (report.counts_as_attempt) after.attempts = before->attempts + 1;
  if (!report.error.empty()) {
    after.last_error = report.error;
  } else if (before->attempts == 0) {
    after.last_error.clear();  // it was the reason of an earlier delay
  }
  if (is_modified) {
    transaction.PutReportedItem(container, report.key, before, std::move(after), report.retry_time);
    return;
  }
  if (const auto position = RetryPosition(container.index_number, report.retry_time.value_or(0))) {
    after.position = *position;
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
  queue.Submit(bytes, std::move(apply),
               [changed, done = std::move(done)](absl::Status status) mutable {
                 if (status.ok()) {
                   done(*changed);
                 } else {
                   done(std::move(status));
                 }
               });
}

}  // namespace

struct ExpiryIndex::Search {
  const Container& container;
  const DueRule& rule;
  int64_t now_seconds;
  std::optional<int64_t> last_passed;  // see LastPassed()
  PassTimes pass_times;

  // The last time at which an entry of the family may stand for an item that is due, whatever
  // clock `now_seconds` is of; absent if none may.
  std::optional<int64_t> LastTime(IndexFamily family) const {
    const std::optional<int64_t> wait = WaitOf(rule, family);
    if (!wait.has_value()) return std::nullopt;
    if (family == IndexFamily::kGated) return last_passed;
    if (family == IndexFamily::kAdopted) return LastAdoptionEnded(container, now_seconds);
    return SaturatedAdd(now_seconds, -*wait);
  }

  // First second at which the item may be deleted; absent if it is not due.
  std::optional<int64_t> DueTimeOf(const StoredItem& item) const {
    const std::optional<int64_t> due = ttl::DueTimeOf(container, rule, item);
    return due.has_value() && *due <= now_seconds ? due : std::nullopt;
  }

  // Since when an item that is due since `due_time` could have been deleted: not before its holds
  // ended, and the gates let it pass.
  int64_t FreeSince(const StoredItem& item, int64_t due_time) const {
    return std::max({due_time, item.held_until, container.held_until,
                     pass_times.PassedAt(item.expired_sequence)});
  }
};

ExpiryIndex::ExpiryIndex(const Database& database, const ItemReader& reader, LowWaterMarks& marks,
                         const FeedLog& feed_log, CommitQueue& queue)
    : database_(database), reader_(reader), marks_(marks), feed_log_(feed_log), queue_(queue) {}

ExpiryIndex::Search ExpiryIndex::SearchIn(const Container& container, const DueRule& rule,
                                          int64_t now_seconds) const {
  Search search = {container, rule, now_seconds, LastPassed(feed_log_, container), {}};
  if (feed_log_.MayHaveGated()) search.pass_times = feed_log_.PassTimesOf(container.feed.number);
  return search;
}

std::optional<int64_t> ExpiryIndex::NextDueTime(const Container& container,
                                                const DueRule& rule) const {
  std::optional<int64_t> next;
  if (container.index_number == 0) return next;
  for (const IndexFamily family : kFamilies) {
    const std::optional<int64_t> wait = WaitOf(rule, family);
    const int64_t mark = marks_.Get(container.index_number, family).time;
    if (!wait.has_value() || mark > LowWaterMarks::kEmpty - *wait - 1) continue;
    if (family == IndexFamily::kGated) {
      const std::optional<int64_t> last_passed = LastPassed(feed_log_, container);
      if (last_passed.has_value() && mark <= *last_passed) return 0;
      continue;
    }
    next =
        std::min(next.value_or(LowWaterMarks::kEmpty), MayBeDueAt(container, family, mark, *wait));
  }
  return next;
}

absl::StatusOr<DueScan> ExpiryIndex::ScanDue(const Container& container, const DueRule& rule,
                                             int64_t now_seconds, const ScanLimits& limits) {
  DueScan scan;
  if (container.index_number == 0) return scan;
  const Search search = SearchIn(container, rule, now_seconds);
  for (const IndexFamily family : kFamilies) {
    TTL_RETURN_IF_ERROR(ScanFamily(search, family, limits, scan));
  }
  std::stable_sort(scan.due.begin(), scan.due.end(), [](const DueItem& a, const DueItem& b) {
    return WaitsSince(a) < WaitsSince(b);
  });
  if (scan.due.size() > limits.max_due) {
    scan.due.resize(limits.max_due);
    scan.more = true;
  }
  return scan;
}

absl::Status ExpiryIndex::ScanFamily(const Search& search, IndexFamily family,
                                     const ScanLimits& limits, DueScan& scan) {
  const std::optional<int64_t> last_time = search.LastTime(family);
  if (!last_time.has_value()) return absl::OkStatus();
  const uint64_t index = search.container.index_number;
  const IndexPlace mark = marks_.BeginScan(index, family);
  // A seek to the end of a family would walk what is erased at the front of the next.
  if (mark.time == LowWaterMarks::kEmpty && !limits.from_the_beginning) return absl::OkStatus();
  IndexCursor cursor(database_, index, family, limits.from_the_beginning ? IndexPlace() : mark);
  TTL_RETURN_IF_ERROR(cursor.status());
  marks_.EndScan(index, family,
                 cursor.Valid() ? cursor.place() : IndexPlace{LowWaterMarks::kEmpty});
  size_t examined = 0;
  size_t due = 0;
  bool only_damaged = true;  // so far
  while (true) {
    const size_t most =
        std::min({kScannedTogether, limits.max_due - due, limits.max_examined - examined});
    std::vector<IndexEntry> entries = cursor.TakeUntil(*last_time, most);
    if (entries.empty()) {
      scan.more = scan.more || (cursor.Valid() && cursor.entry().time <= *last_time);
      return cursor.status();
    }
    examined += entries.size();
    const auto items = reader_.ReadOwners(search.container, entries);
    if (only_damaged) only_damaged = PassDamaged(index, entries, items);
    due += JudgeEntries(search, std::move(entries), items, scan);
  }
}

// Moves the mark behind the damaged items that `entries` begin with, so that they do not
// use up every scan; one from the beginning meets them again. Returns whether all are
// damaged.
bool ExpiryIndex::PassDamaged(uint64_t index, const std::vector<IndexEntry>& entries,
                              const ReadItems& items) {
  const auto first = std::find_if(items.begin(), items.end(), [](const auto& item) {
    return !absl::IsDataLoss(item.status());
  });
  if (first == items.begin()) return false;
  const IndexEntry& last = entries[static_cast<size_t>(first - items.begin()) - 1];
  marks_.EndScan(index, last.family, PlaceBehind(index, last));
  return first == items.end();
}

// Sorts entries into those whose items are due, whose number it returns, and the rest.
size_t ExpiryIndex::JudgeEntries(const Search& search, std::vector<IndexEntry> entries,
                                 const ReadItems& items, DueScan& scan) {
  size_t due = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!items[i].ok()) {
      ++scan.unreadable;
      continue;
    }
    const StoredItemPtr& item = *items[i];
    const std::optional<int64_t> due_time =
        item == nullptr ? std::nullopt : search.DueTimeOf(*item);
    if (!due_time.has_value()) {
      scan.early.push_back(std::move(entries[i]));
      continue;
    }
    ++due;
    scan.due.push_back(
        {std::move(entries[i].key), ToTracked(*item), search.FreeSince(*item, *due_time)});
  }
  return due;
}

absl::StatusOr<std::optional<int64_t>> ExpiryIndex::OldestDueTime(const Container& container,
                                                                  const DueRule& rule,
                                                                  int64_t now_seconds) const {
  std::optional<int64_t> oldest;
  if (container.index_number == 0) return oldest;
  const Search search = SearchIn(container, rule, now_seconds);
  for (const IndexFamily family : kFamilies) {
    TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> found, OldestOfFamily(search, family));
    if (found.has_value()) oldest = std::min(oldest.value_or(*found), *found);
  }
  return oldest;
}

absl::StatusOr<std::optional<int64_t>> ExpiryIndex::OldestOfFamily(const Search& search,
                                                                   IndexFamily family) const {
  const Container& container = search.container;
  const std::optional<int64_t> wait = WaitOf(search.rule, family);
  const std::optional<int64_t> last_time = search.LastTime(family);
  const uint64_t index = container.index_number;
  const IndexPlace mark = marks_.Get(index, family);
  std::optional<int64_t> oldest;
  if (!last_time.has_value() || !MayHaveDue(family, mark, *last_time)) return oldest;
  const bool in_due_order = IsInDueOrder(family);
  const bool is_retry = family == IndexFamily::kRetryTime;
  const IndexPlace start = in_due_order ? SkipUnsound(mark, *wait) : mark;
  int examined = 0;
  IndexCursor cursor(database_, index, family, start);
  for (; cursor.Valid(); cursor.Next()) {
    const IndexEntry& entry = cursor.entry();
    if (!is_retry && entry.time > *last_time) break;
    if (++examined > kMaxOldestExamined) {
      if (in_due_order) oldest = std::max(entry.time + *wait, container.held_until);
      break;
    }
    const absl::StatusOr<StoredItemPtr> item = ReadOwner(reader_, container, entry);
    if (!item.ok() || *item == nullptr) continue;
    const std::optional<int64_t> due_time = search.DueTimeOf(**item);
    if (!due_time.has_value() || *due_time < kFirstSoundTime) continue;
    const int64_t free_since = search.FreeSince(**item, *due_time);
    oldest = std::min(oldest.value_or(free_since), free_since);
    if (in_due_order) break;
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return oldest;
}

bool ExpiryIndex::MayHaveRetries(const Container& container) const {
  const uint64_t index = container.index_number;
  return index != 0 && marks_.Get(index, IndexFamily::kRetryTime).time != LowWaterMarks::kEmpty;
}

absl::StatusOr<bool> ExpiryIndex::HasRetries(const Container& container, const DueRule& rule,
                                             int64_t now_seconds) const {
  constexpr IndexFamily kFamily = IndexFamily::kRetryTime;
  const uint64_t index = container.index_number;
  if (!MayHaveRetries(container) || !WaitOf(rule, kFamily).has_value()) return false;
  const IndexPlace mark = marks_.Get(index, kFamily);
  int examined = 0;
  IndexCursor cursor(database_, index, kFamily, mark);
  for (; cursor.Valid() && examined < kMaxOldestExamined; cursor.Next(), ++examined) {
    if (cursor.entry().time <= now_seconds) continue;
    const absl::StatusOr<StoredItemPtr> item = ReadOwner(reader_, container, cursor.entry());
    if (!item.ok() || *item == nullptr) continue;
    const std::optional<int64_t> due_time = DueTimeOf(container, rule, **item);
    if (due_time.has_value() && *due_time <= now_seconds) return true;
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return false;
}

absl::StatusOr<Backlog> ExpiryIndex::CountDue(const Container& container, const DueRule& rule,
                                              int64_t now_seconds, size_t limit) const {
  Backlog backlog;
  if (container.index_number == 0) return backlog;
  const Search search = SearchIn(container, rule, now_seconds);
  for (const IndexFamily family : kFamilies) {
    TTL_RETURN_IF_ERROR(CountFamily(search, family, limit, backlog));
  }
  return backlog;
}

absl::Status ExpiryIndex::CountFamily(const Search& search, IndexFamily family, size_t limit,
                                      Backlog& backlog) const {
  const Container& container = search.container;
  const std::optional<int64_t> last_time = search.LastTime(family);
  if (!last_time.has_value()) return absl::OkStatus();
  const uint64_t index = container.index_number;
  // Items that wait for another try are due all the same, so all of them count,
  // and each must be looked at: they do not stand in the order of their due time.
  const bool in_due_order = IsInDueOrder(family);
  const bool is_retry = family == IndexFamily::kRetryTime;
  const IndexPlace mark = marks_.Get(index, family);
  if (!MayHaveDue(family, mark, *last_time)) return absl::OkStatus();
  const int64_t first_sound = SkipUnsound(mark, *WaitOf(search.rule, family)).time;
  bool oldest_found = false;
  IndexCursor cursor(database_, index, family, mark);
  for (; cursor.Valid(); cursor.Next()) {
    const IndexEntry& entry = cursor.entry();
    if (!is_retry && entry.time > *last_time) break;
    if (backlog.count >= static_cast<int64_t>(limit)) {
      backlog.is_lower_bound = true;
      break;
    }
    ++backlog.count;
    if (in_due_order && (oldest_found || entry.time < first_sound)) continue;
    const absl::StatusOr<StoredItemPtr> item = ReadOwner(reader_, container, entry);
    if (!item.ok() || *item == nullptr) continue;
    const std::optional<int64_t> due_time = search.DueTimeOf(**item);
    if (!due_time.has_value() || *due_time < kFirstSoundTime) continue;
    oldest_found = true;
    const int64_t free_since = search.FreeSince(**item, *due_time);
    backlog.oldest_due_time = std::min(backlog.oldest_due_time.value_or(free_since), free_since);
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
  const IndexPlace mark = marks_.Get(index, kFamily);
  if (mark.time == LowWaterMarks::kEmpty) return page;
  const IndexPlace start =
      after.has_value() ? PlaceBehind(index, {kFamily, after->next_try_time, after->key}) : mark;
  std::optional<StuckPage::Position> last;
  size_t examined = 0;
  IndexCursor cursor(database_, index, kFamily, start);
  for (; cursor.Valid(); cursor.Next()) {
    if (page.items.size() == limit || examined++ == kMaxStuckExamined) {
      page.next = std::move(last);
      return page;
    }
    const IndexEntry& entry = cursor.entry();
    last = {entry.time, entry.key};
    const absl::StatusOr<StoredItemPtr> item = ReadOwner(reader_, container, entry);
    if (!item.ok() || *item == nullptr) continue;
    if ((*item)->attempts == 0 && (*item)->last_error.empty()) continue;
    page.items.push_back({entry.key, (*item)->attempts, (*item)->last_error, entry.time});
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return page;
}

void ExpiryIndex::Tidy(uint64_t container, std::vector<IndexEntry> entries, Done<int64_t> done) {
  SubmitCounting(queue_, container, std::move(entries), TidyOne, std::move(done));
}

void ExpiryIndex::FileByExpireTime(uint64_t container, std::vector<IndexEntry> entries,
                                   Done<int64_t> done) {
  SubmitCounting(queue_, container, std::move(entries), FileOne, std::move(done));
}

void ExpiryIndex::ApplyOutcomes(uint64_t container, std::vector<DeleteReport> reports,
                                Done<int64_t> done) {
  SubmitCounting(
      queue_, container, std::move(reports),
      [](Transaction& transaction, const Container& living, const DeleteReport& report,
         const StoredItemPtr& before, int64_t& applied) {
        if (before == nullptr || before->generation != report.generation) {
          LogDropped(transaction, living, report, before);
          return;
        }
        ApplyReport(transaction, living, report, before);
        ++applied;
      },
      std::move(done));
}

}  // namespace ttl
