#include "service/storage/commit/transaction.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/due_changes.h"
#include "service/storage/commit/unannounced_marks.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

// A transaction overlays the committed state with the changes of one commit, in maps of two layers
// (layered_map.h). The top layer has the changes of the current operation; Keep() merges it into
// the layer of the commit, and Discard() drops it. So an operation that fails leaves nothing
// behind, and later operations of the same commit see the earlier ones.
//
// Reads look into the layers first. The reads that ReportTransaction has then look into the
// transaction being written meanwhile (before_), and only then into the committed state; all other
// reads skip before_, and so are only allowed when there is none.
//
// An item and its index entry change together. A record names the position of its entry: PutItem()
// and EraseItem() compare the position in the record before with that in the record after, and
// MoveEntry() erases and writes entries accordingly. So there is at most one entry per item. A
// position in another index than the container's present one counts as no entry (PresentPosition).
//
// Writes() is what the database gets, in one batch; Publish() updates the in-memory state after
// that.
namespace ttl {

Transaction::Transaction(const Catalog& catalog, const HoldTable& holds, const Database& database,
                         const ItemReader& reader, ScanMarks& scan_marks, FeedLog& feed_log,
                         uint64_t& erased_generation, std::shared_ptr<const Transaction> before)
    : catalog_(catalog),
      hold_table_(holds),
      database_(database),
      reader_(reader),
      scan_marks_(scan_marks),
      erased_generation_(erased_generation),
      before_(std::move(before)),
      holds_(holds),
      feed_(feed_log) {}

ContainerPtr Transaction::FindContainer(uint64_t number) const {
  for (const Transaction* transaction : {static_cast<const Transaction*>(this), before_.get()}) {
    if (transaction == nullptr) continue;
    const ContainerPtr* gathered = transaction->containers_.Find(number);
    if (gathered != nullptr) return *gathered;
  }
  return catalog_.Find(number);
}

ContainerPtr Transaction::FindContainer(absl::string_view id) const {
  const uint64_t* number = numbers_by_id_.Find(id);
  if (number == nullptr) return catalog_.Find(id);
  return *number == 0 ? nullptr : FindContainer(*number);
}

std::vector<ContainerPtr> Transaction::AllContainers() const {
  std::vector<ContainerPtr> all;
  for (const ContainerPtr& committed : catalog_.All()) {
    const ContainerPtr* gathered = containers_.Find(committed->number);
    if (gathered == nullptr) {
      all.push_back(committed);
    } else if (*gathered != nullptr) {
      all.push_back(*gathered);
    }
  }
  return all;
}

void Transaction::PutContainer(Container container) {
  const uint64_t number = container.number;
  std::string record = EncodeContainer(container);
  // Use the container as the next start will read it: stored times have a lower resolution.
  if (auto stored = DecodeContainer(number, record); stored.ok()) container = *std::move(stored);
  Put(ContainerKey(number), std::move(record));
  numbers_by_id_.Set(container.id, number);
  containers_.Set(number, std::make_shared<const Container>(std::move(container)));
}

void Transaction::EraseContainer(const Container& container) {
  Erase(ContainerKey(container.number));
  numbers_by_id_.Set(container.id, 0);
  containers_.Set(container.number, nullptr);
}

absl::StatusOr<uint64_t> Transaction::NewNumber() {
  const std::string key = MetaKey(kNextNumberFact);
  TTL_ASSIGN_OR_RETURN(const Bytes stored, Get(key));
  uint64_t number = 1;
  if (stored.has_value() && (!absl::SimpleAtoi(*stored, &number) || number == 0)) {
    return absl::DataLossError(absl::StrCat("the counter of numbers is unreadable: ", *stored));
  }
  Put(key, absl::StrCat(number + 1));
  return number;
}

absl::StatusOr<StoredItemPtr> Transaction::GetItem(uint64_t container, const ItemKey& key) const {
  encoded_.clear();
  AppendItemKey(container, key.partition_key, key.id, encoded_);
  for (const Transaction* transaction : {static_cast<const Transaction*>(this), before_.get()}) {
    if (transaction == nullptr) continue;
    const ItemChange* gathered = transaction->items_.Find(encoded_);
    if (gathered != nullptr) return gathered->after;
  }
  return reader_.Read(encoded_);
}

std::optional<EntryPosition> Transaction::PresentPosition(const Container& container,
                                                          const StoredItemPtr& item) {
  if (item == nullptr || item->position.index == 0) return std::nullopt;
  if (item->position.index != container.index_number) return std::nullopt;
  return item->position;
}

void Transaction::SetItem(uint64_t container, const ItemKey& key, const StoredItemPtr& before,
                          StoredItemPtr after) {
  std::string encoded = EncodeItemKey(container, key);
  const ItemChange* gathered = items_.Find(encoded);
  ItemChange change{gathered == nullptr ? before : gathered->committed, std::move(after)};
  items_.Set(std::move(encoded), std::move(change));
}

void Transaction::MoveEntry(uint64_t container, const ItemKey& key,
                            const std::optional<EntryPosition>& from,
                            const std::optional<EntryPosition>& to) {
  if (from == to) return;
  if (from.has_value()) Erase(EncodeIndexKey(from->index, from->family, from->time, key));
  if (!to.has_value()) return;
  Put(EncodeIndexKey(to->index, to->family, to->time, key), "");
  owners_[to->index] = container;
}

void Transaction::PutItem(const Container& container, const ItemKey& key,
                          const StoredItemPtr& before, StoredItem after) {
  auto stored = std::make_shared<const StoredItem>(std::move(after));
  MoveEntry(container.number, key, PresentPosition(container, before),
            PresentPosition(container, stored));
  SetItem(container.number, key, before, std::move(stored));
}

void Transaction::PutReportedItem(const Container& container, const ItemKey& key,
                                  const StoredItemPtr& before, StoredItem after,
                                  std::optional<int64_t> next_try) {
  if (next_try.has_value()) {
    after.position = RetryPosition(container.index_number, *next_try).value_or(EntryPosition());
  } else {
    std::optional<EntryPosition> position = PresentPosition(container, before);
    // An item that is set aside stays so if it is reported again as it is.
    const bool stays = position.has_value() && position->family == IndexFamily::kHeld &&
                       IsSameWrite(before->version.times, after.version.times);
    if (!stays) {
      position =
          ChoosePosition(position, BelongsAt(container.index_number, after),
                         MaxEarliness(container.settings.policy.default_ttl, after.version.times));
    }
    after.position = position.value_or(EntryPosition());
  }
  after.store_epoch = StoreEpoch();
  if (after.version.times.expire_at.has_value()) NoteExpireAt(container);
  if (before == nullptr) after.generation = erased_generation_ + 1;
  if (scan_marks_.IsReading(container.number)) {
    scan_marks_.NoteReport(container.number, EncodeItemKey(container.number, key));
  }
  if (container.feed.is_on()) LogReported(feed_, container, key, before.get(), after);
  PutItem(container, key, before, std::move(after));
}

void Transaction::PutTouchedItem(const Container& container, const ItemKey& key,
                                 const StoredItemPtr& before, StoredItem after) {
  if (container.feed.is_on() && TellTouched(feed_, container, key, after)) {
    LeaveGates(container.index_number, after);
  }
  PutItem(container, key, before, std::move(after));
}

void Transaction::NoteExpireAt(const Container& container) {
  if (container.has_expire_at) return;
  // `container` may be from before an item of the same operation.
  const ContainerPtr present = FindContainer(container.number);
  if (present == nullptr || present->has_expire_at) return;
  Container noted = *present;
  noted.has_expire_at = true;
  PutContainer(std::move(noted));
  RaiseDataFormat(kExpireAtDataFormat);
}

int64_t Transaction::DataFormat() const {
  if (data_format_top_.has_value()) return *data_format_top_;
  if (data_format_kept_.has_value()) return *data_format_kept_;
  return before_ == nullptr ? catalog_.DataFormat() : before_->DataFormat();
}

void Transaction::RaiseDataFormat(int64_t format) {
  if (DataFormat() >= format) return;
  Put(MetaKey(kDataFormatFact), absl::StrCat(format));
  data_format_top_ = format;
}

void Transaction::PutHold(StoredHold hold) {
  RaiseDataFormat(kHoldsDataFormat);
  Put(HoldKey(hold.hold.container, hold.hold.number), EncodeHold(hold));
  holds_.Put(std::move(hold));
}

void Transaction::EraseHold(const StoredHold& hold) {
  Erase(HoldKey(hold.hold.container, hold.hold.number));
  holds_.Erase(hold.hold.number);
}

absl::StatusOr<std::vector<uint64_t>> Transaction::KeyHolds(uint64_t container,
                                                            const ItemKey& key) const {
  TTL_ASSIGN_OR_RETURN(const Bytes stored, Get(KeyHoldsKey(container, key)));
  if (!stored.has_value()) return std::vector<uint64_t>();
  return DecodeKeyHolds(*stored);
}

void Transaction::PutKeyHolds(uint64_t container, const ItemKey& key,
                              const std::vector<uint64_t>& holds) {
  std::string encoded = KeyHoldsKey(container, key);
  if (holds.empty()) {
    Erase(std::move(encoded));
  } else {
    Put(std::move(encoded), EncodeKeyHolds(holds));
  }
}

absl::StatusOr<uint64_t> Transaction::FindHolder(uint64_t container, const ItemKey& key) const {
  const auto stands = [this](uint64_t number) {
    const StoredHoldPtr hold = holds_.Find(number);
    return hold != nullptr && hold->stands();
  };
  const uint64_t on_partition = hold_table_.FindOnPartition(container, key.partition_key);
  if (on_partition != 0 && stands(on_partition)) return on_partition;
  if (hold_table_.CountsOf(container).by_key == 0) return uint64_t{0};
  TTL_ASSIGN_OR_RETURN(const std::vector<uint64_t> by_key, KeyHolds(container, key));
  const auto holder = std::find_if(by_key.begin(), by_key.end(), stands);
  return holder == by_key.end() ? 0 : *holder;
}

void Transaction::EraseItem(const Container& container, const ItemKey& key,
                            const StoredItemPtr& before, const std::optional<Purge>& purge) {
  if (container.feed.is_on()) LogErased(feed_, container, key, *before, purge);
  erased_generation_ = std::max(erased_generation_, before->generation);
  MoveEntry(container.number, key, PresentPosition(container, before), std::nullopt);
  SetItem(container.number, key, before, nullptr);
  NoteRemoval(container, key, before->version.times.ts, before->version.sequence);
}

void Transaction::NoteRemoval(const Container& container, const ItemKey& key, int64_t ts,
                              std::optional<uint64_t> sequence) {
  if (!scan_marks_.IsReading(container.number)) return;
  scan_marks_.NoteRemoval(container.number, EncodeItemKey(container.number, key), ts, sequence);
}

void Transaction::EraseEntry(uint64_t index, const IndexEntry& entry) {
  Erase(EncodeIndexKey(index, entry.family, entry.time, entry.key));
}

absl::StatusOr<std::optional<std::string>> Transaction::Get(const std::string& key) const {
  const Bytes* gathered = others_.Find(key);
  if (gathered != nullptr) return *gathered;
  return database_.Get(key);
}

void Transaction::Put(std::string key, std::string value) {
  others_.Set(std::move(key), std::move(value));
}

void Transaction::Erase(std::string key) { others_.Set(std::move(key), std::nullopt); }

void Transaction::SetPauseOfAll(std::optional<Pause> pause) {
  if (pause.has_value()) {
    Put(MetaKey(kPauseOfAllFact), EncodePause(*pause));
  } else {
    Erase(MetaKey(kPauseOfAllFact));
  }
  pause_of_all_top_ = std::move(pause);
}

uint64_t Transaction::StoreEpoch() const {
  if (store_epoch_top_.has_value()) return *store_epoch_top_;
  if (store_epoch_kept_.has_value()) return *store_epoch_kept_;
  return before_ == nullptr ? catalog_.StoreEpoch() : before_->StoreEpoch();
}

void Transaction::PutStore(const StoredStore& store) {
  Put(MetaKey(kStoreFact), EncodeStore(store));
  store_epoch_top_ = store.epoch;
}

void Transaction::PutWalkStep(uint64_t container, Tallies::WalkStep step) {
  walk_steps_.Set(container, std::move(step));
}

void Transaction::Keep() {
  items_.Keep();
  others_.Keep();
  containers_.Keep();
  numbers_by_id_.Keep();
  walk_steps_.Keep();
  holds_.Keep();
  feed_.Keep();
  if (pause_of_all_top_.has_value()) pause_of_all_kept_ = std::move(pause_of_all_top_);
  pause_of_all_top_.reset();
  if (store_epoch_top_.has_value()) store_epoch_kept_ = std::exchange(store_epoch_top_, {});
  if (data_format_top_.has_value()) data_format_kept_ = std::exchange(data_format_top_, {});
}

void Transaction::Discard() {
  items_.Discard();
  others_.Discard();
  containers_.Discard();
  numbers_by_id_.Discard();
  walk_steps_.Discard();
  holds_.Discard();
  feed_.Discard();
  pause_of_all_top_.reset();
  store_epoch_top_.reset();
  data_format_top_.reset();
}

Tallies::Changes Transaction::TallyChanges() const {
  Tallies::Changes changes;
  for (const auto& [number, container] : containers_.kept()) {
    Tallies::Change& change = changes[number];
    change.erased = container == nullptr;
    if (container == nullptr) continue;
    change.index = container->index_number;
    change.announced_after = Tallies::AnnouncedAfter(*container);
  }
  for (const auto& [number, step] : walk_steps_.kept()) changes[number].step = &step;
  for (const auto& [key, item] : items_.kept()) {
    changes[DecodeNumber(key).value_or(0)].items.push_back(
        {key, item.committed.get(), item.after.get()});
  }
  return changes;
}

WriteSet Transaction::Writes(const Tallies& tallies, const Tallies::Changes& tally_changes) const {
  WriteSet writes;
  writes.reserve(items_.kept().size() + others_.kept().size() + tally_changes.size());
  for (const auto& [key, item] : items_.kept()) {
    writes.emplace_back(key, item.after == nullptr ? Bytes() : Bytes(EncodeItem(*item.after)));
  }
  for (const auto& [key, value] : others_.kept()) writes.emplace_back(key, value);
  feed_.AppendTo(writes);
  for (const auto& [number, change] : tally_changes) {
    if (change.erased) {
      writes.emplace_back(TotalsKey(number), Bytes());
    } else if (const auto totals = tallies.TotalsAfter(number, change)) {
      writes.emplace_back(TotalsKey(number), EncodeTotals(*totals));
    }
  }
  return writes;
}

bool Transaction::Publish(RecordCache& cache, Catalog& catalog, HoldTable& holds,
                          LowWaterMarks& marks, DueChanges& due_changes) const {
  for (const auto& [key, item] : items_.kept()) cache.Put(key, item.after);
  Catalog::Changes changes;
  HoldTable::Changes hold_changes = holds_.kept();
  for (const auto& [number, container] : containers_.kept()) {
    changes.containers.emplace_back(number, container);
    if (container == nullptr) hold_changes.deleted_containers.push_back(number);
  }
  // Before the sweep learns what may be due earlier.
  holds.Publish(hold_changes);
  const std::vector<uint64_t> freed = feed_.Publish(changes.containers);
  changes.pause_of_all = pause_of_all_kept_;
  changes.store_epoch = store_epoch_kept_;
  changes.data_format = data_format_kept_;
  bool earlier = !changes.containers.empty() || changes.pause_of_all.has_value() || !freed.empty();
  catalog.Publish(changes);
  for (const uint64_t container : freed) due_changes.Add(container);
  for (const auto& [number, container] : changes.containers) due_changes.Add(number);
  if (changes.pause_of_all.has_value()) due_changes.AddAll();
  for (const auto& [key, value] : others_.kept()) {
    if (!value.has_value()) continue;
    const std::optional<EntryPosition> entry = DecodeEntryPosition(key);
    if (!entry.has_value()) continue;
    if (!marks.EntryWritten(entry->index, entry->family, entry->time, key)) continue;
    due_changes.Add(owners_.at(entry->index));
    earlier = true;
  }
  return earlier;
}

bool Transaction::PublishUnannounced(const Catalog& catalog, UnannouncedMarks& marks) const {
  bool earlier = !containers_.kept().empty();
  for (const auto& [number, container] : containers_.kept()) marks.changes.Add(number);
  if (marks.expiries.IsEmpty()) return earlier;
  for (const auto& [key, item] : items_.kept()) {
    if (item.after == nullptr || !marks.expiries.Knows(item.after->position.index)) continue;
    const uint64_t number = DecodeNumber(key).value_or(0);
    const ContainerPtr container = catalog.Find(number);
    if (container == nullptr || !LowerMarks(container->feed, key, item, marks)) continue;
    marks.changes.Add(number);
    earlier = true;
  }
  return earlier;
}

bool Transaction::LowerMarks(const FeedState& feed, absl::string_view key, const ItemChange& item,
                             UnannouncedMarks& marks) {
  const StoredItem& after = *item.after;
  if (!IsUnannounced(feed, after)) return false;
  const StoredItem* before = item.committed.get();
  // Another generation is new where the one before was: one commit may have announced that, too. A
  // scan may pass the item by the end that it had before a touch.
  const bool is_new = before == nullptr || before->generation != after.generation ||
                      before->position != after.position || !IsUnannounced(feed, *before) ||
                      before->version.times.touch_time != after.version.times.touch_time;
  const bool is_unnoticed = is_new || (before->noticed_expire_time != after.noticed_expire_time &&
                                       after.noticed_expire_time == 0);
  if (!is_unnoticed) return false;
  const EntryPosition& at = after.position;
  const std::string entry =
      EncodeIndexKey(at.index, at.family, at.time, DecodeItemKey(key).value_or(ItemKey()));
  bool lowered = marks.notices.EntryWritten(at.index, at.family, at.time, entry);
  if (is_new && marks.expiries.EntryWritten(at.index, at.family, at.time, entry)) lowered = true;
  return lowered;
}

}  // namespace ttl
