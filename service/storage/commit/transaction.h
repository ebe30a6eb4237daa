#ifndef TTL_SERVICE_STORAGE_COMMIT_TRANSACTION_H_
#define TTL_SERVICE_STORAGE_COMMIT_TRANSACTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/base/layered_map.h"
#include "service/core/container.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/commit/record_cache.h"
#include "service/storage/commit/scan_marks.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/event_writer.h"
#include "service/storage/feed/feed_changes.h"
#include "service/storage/format/sidecar_facts.h"
#include "service/storage/format/stored_hold.h"
#include "service/storage/format/stored_item.h"
#include "service/storage/holds/hold_changes.h"

namespace ttl {

class DueChanges;
struct UnannouncedMarks;

// The fact that counts the numbers given out; absent before the first.
inline constexpr absl::string_view kNextNumberFact = "next_number";

// The changes of one commit while they are gathered. Reads see the committed state overlaid with
// the gathered changes. Each operation of a commit is kept or discarded as a whole. This class owns
// the rule that an item and its index entry change together: there is at most one entry per item,
// the one at the position that the item's record names. For one thread at a time.
//
// Reads return DATA_LOSS if a record cannot be read, UNAVAILABLE while the database is closed.
class Transaction {
 public:
  // `before` is the transaction that is being written meanwhile; null if there is none. If there is
  // one, use no more than ReportTransaction has. `erased_generation` is the highest generation of
  // an item that was erased, by any transaction since the start. All references must outlive this.
  Transaction(const Catalog& catalog, const HoldTable& holds, const Database& database,
              const ItemReader& reader, ScanMarks& scan_marks, FeedLog& feed_log,
              uint64_t& erased_generation, std::shared_ptr<const Transaction> before = nullptr);

  // Releases `before`, which is committed now.
  void ForgetBefore() { before_.reset(); }

  // Null if there is none.
  ContainerPtr FindContainer(uint64_t number) const;
  ContainerPtr FindContainer(absl::string_view id) const;
  // Those that were committed before and still exist, in no particular order.
  std::vector<ContainerPtr> AllContainers() const;
  void PutContainer(Container container);
  void EraseContainer(const Container& container);

  // A number that was never used before, for a container or an index. DATA_LOSS if the counter is
  // unreadable.
  absl::StatusOr<uint64_t> NewNumber();

  // Null if there is none.
  absl::StatusOr<StoredItemPtr> GetItem(uint64_t container, const ItemKey& key) const;

  // Stores `after`, and moves the index entry from the position that `before` (null: no item)
  // names to the one that `after` names. `before` is the result of GetItem().
  void PutItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
               StoredItem after);

  // Stores `after` in the present store epoch, with the position that ChoosePosition() gives it,
  // or, if `next_try` (Unix seconds) is set, among the items that wait for their next try until
  // then. A new item gets a generation higher than that of any item erased since the start, so that
  // the outcome of a delete of an earlier item with the same key does not apply to it. Logs the
  // events of the change if the container has a feed.
  void PutReportedItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
                       StoredItem after, std::optional<int64_t> next_try = std::nullopt);

  // Stores `after`, which differs from `before` in its touch_time only and lives. Its entry, which
  // is early from then on, stays, unless it was announced and set aside for gates.
  void PutTouchedItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
                      StoredItem after);

  // Removes an item and its entry. `purge` is set if the store has deleted the item because the
  // sweep asked for it. Logs the events of the change if the container has a feed.
  void EraseItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
                 const std::optional<Purge>& purge = std::nullopt);

  // Notes, for a scan of the store in progress, that the store has deleted an item, tracked or not.
  void NoteRemoval(const Container& container, const ItemKey& key, int64_t ts,
                   std::optional<uint64_t> sequence);

  // Removes an index entry that no item's record names.
  void EraseEntry(uint64_t index, const IndexEntry& entry);

  // The holds. A hold that has ended stays until it is erased.
  const HoldChanges& holds() const { return holds_; }
  void PutHold(StoredHold hold);
  void EraseHold(const StoredHold& hold);
  // The numbers of the holds that name a key, and a change of them.
  absl::StatusOr<std::vector<uint64_t>> KeyHolds(uint64_t container, const ItemKey& key) const;
  void PutKeyHolds(uint64_t container, const ItemKey& key, const std::vector<uint64_t>& holds);
  // The number of a hold on the partition or the key of an item that stands; 0 if there is none,
  // or none but one that this commit places.
  absl::StatusOr<uint64_t> FindHolder(uint64_t container, const ItemKey& key) const;

  // The events and subscriptions. The container of an event must have a feed.
  FeedChanges& feed() { return feed_; }

  // The data becomes such that a program must know this format to use it; see data_format.h.
  void RaiseDataFormat(int64_t format);

  // Raw access to facts, purge records and keys of deleted containers. Not for items or entries of
  // existing containers.
  absl::StatusOr<std::optional<std::string>> Get(const std::string& key) const;
  void Put(std::string key, std::string value);
  void Erase(std::string key);

  void SetPauseOfAll(std::optional<Pause> pause);

  // The store epoch in which reports are made now.
  uint64_t StoreEpoch() const;
  void PutStore(const StoredStore& store);

  // A step of the walk that counts the items of a container, made in this operation.
  void PutWalkStep(uint64_t container, Tallies::WalkStep step);

  // Ends an operation: its changes are kept for the commit, or discarded.
  void Keep();
  void Discard();

  // The kept changes as Tallies needs them. Points into the transaction.
  Tallies::Changes TallyChanges() const;

  // The kept changes to write, with the totals as `tally_changes` leave them. Empty if there are
  // none.
  WriteSet Writes(const Tallies& tallies, const Tallies::Changes& tally_changes) const;

  // Makes the kept changes visible to readers, after the write. Returns whether anything may have
  // become due earlier; adds the containers concerned to `due_changes`.
  bool Publish(RecordCache& cache, Catalog& catalog, HoldTable& holds, LowWaterMarks& marks,
               DueChanges& due_changes) const;

  // Lowers the marks of the scans for unannounced items, and adds the containers in which something
  // may have to be announced earlier, or that have changed, to the changes of `marks`; after
  // Publish(). Returns whether there are any. Cheap while no container has a feed.
  bool PublishUnannounced(const Catalog& catalog, UnannouncedMarks& marks) const;

 private:
  using Bytes = std::optional<std::string>;  // absent: deleted
  struct ItemChange {
    StoredItemPtr committed;  // before the transaction; null: no item
    StoredItemPtr after;      // null: deleted
  };

  // Lowers `marks` for an item that the commit leaves unannounced. Returns whether a time was
  // lowered.
  static bool LowerMarks(const FeedState& feed, absl::string_view key, const ItemChange& item,
                         UnannouncedMarks& marks);
  // The position of the item's entry; absent if it has none in the container's present index.
  static std::optional<EntryPosition> PresentPosition(const Container& container,
                                                      const StoredItemPtr& item);
  void SetItem(uint64_t container, const ItemKey& key, const StoredItemPtr& before,
               StoredItemPtr after);
  // Notes that an item of the container has an expire_at, with the first of them also the format
  // of the data.
  void NoteExpireAt(const Container& container);
  int64_t DataFormat() const;
  void MoveEntry(uint64_t container, const ItemKey& key, const std::optional<EntryPosition>& from,
                 const std::optional<EntryPosition>& to);

  const Catalog& catalog_;
  const HoldTable& hold_table_;
  const Database& database_;
  const ItemReader& reader_;
  ScanMarks& scan_marks_;
  uint64_t& erased_generation_;
  std::shared_ptr<const Transaction> before_;

  LayeredMap<std::string, ItemChange> items_;        // by encoded key
  LayeredMap<std::string, Bytes> others_;            // every other key
  LayeredMap<uint64_t, ContainerPtr> containers_;    // null: deleted
  LayeredMap<std::string, uint64_t> numbers_by_id_;  // 0: deleted
  LayeredMap<uint64_t, Tallies::WalkStep> walk_steps_;
  HoldChanges holds_;
  FeedChanges feed_;
  // Containers of the indexes that were written to.
  absl::flat_hash_map<uint64_t, uint64_t> owners_;
  mutable std::string encoded_;  // reused by GetItem()
  std::optional<std::optional<Pause>> pause_of_all_kept_;
  std::optional<std::optional<Pause>> pause_of_all_top_;
  std::optional<uint64_t> store_epoch_kept_;
  std::optional<uint64_t> store_epoch_top_;
  std::optional<int64_t> data_format_kept_;
  std::optional<int64_t> data_format_top_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_TRANSACTION_H_
