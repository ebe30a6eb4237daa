#ifndef TTL_SERVICE_STORAGE_COMMIT_TRANSACTION_H_
#define TTL_SERVICE_STORAGE_COMMIT_TRANSACTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/container.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/layered_map.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/commit/record_cache.h"
#include "service/storage/commit/scan_marks.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/sidecar_facts.h"
#include "service/storage/format/stored_item.h"

namespace ttl {

class DueChanges;

// The fact that counts the numbers given out; absent before the first.
inline constexpr absl::string_view kNextNumberFact = "next_number";

// The changes of one commit while they are gathered: reads see what is committed
// overlaid with what was gathered. Each operation of a commit is kept or
// discarded as a whole. It owns the rule that an item and its index entry change
// together: at most one entry per item, the one the item claims. For one thread at a
// time.
class Transaction {
 public:
  // `before` is the transaction that is being written meanwhile, all of whose changes
  // are seen by FindContainer(number), GetItem() and StoreEpoch(); null if there is none. Only
  // these may be used on top of one: all else reads what is committed. `erased_generation` is the
  // highest that an item had when it was erased, by any transaction since the start.
  Transaction(const Catalog& catalog, const Database& database, const ItemReader& reader,
              ScanMarks& scan_marks, uint64_t& erased_generation,
              std::shared_ptr<const Transaction> before = nullptr);

  // Lets go of `before`, which is committed now.
  void ForgetBefore() { before_.reset(); }

  // Null if there is none.
  ContainerPtr FindContainer(uint64_t number) const;
  ContainerPtr FindContainer(absl::string_view id) const;
  void PutContainer(Container container);
  void EraseContainer(const Container& container);

  // A number never used before, for a container or an index.
  absl::StatusOr<uint64_t> NewNumber();

  // Null if there is none.
  absl::StatusOr<StoredItemPtr> GetItem(uint64_t container, const ItemKey& key) const;

  // Stores `after`, moving the index entry from where `before` (null: no item)
  // has it to where `after` claims it to be. `before` is what GetItem gave.
  void PutItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
               StoredItem after);

  // Stores `after`, of the present store epoch, with the claim that ChooseClaim gives it, or, with
  // a `next_try` in Unix seconds, among the items that are not tried before that time. A new item
  // begins with a generation that none erased since the start has had: what is known of its dead
  // namesake, such as the answer to a delete that was on its way, is not taken for its own.
  void PutReportedItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
                       StoredItem after, std::optional<int64_t> next_try = std::nullopt);

  // Removes an item and its entry.
  void EraseItem(const Container& container, const ItemKey& key, const StoredItemPtr& before);

  // Notes for a scan under way that the store has deleted an item, tracked or not.
  void NoteRemoval(const Container& container, const ItemKey& key, int64_t ts,
                   std::optional<uint64_t> sequence);

  // Removes an entry that no item claims.
  void EraseEntry(uint64_t index, const IndexEntry& entry);

  // Facts, purge records and keys of the dead: no item or entry of the living.
  absl::StatusOr<std::optional<std::string>> Get(const std::string& key) const;
  void Put(std::string key, std::string value);
  void Erase(std::string key);

  void SetPauseOfAll(std::optional<Pause> pause);

  // The store epoch in which reports are made now.
  uint64_t StoreEpoch() const;
  void PutStore(const StoredStore& store);

  // A step of the walk that counts the items of a container, made in this operation.
  void PutWalkStep(uint64_t container, Tallies::WalkStep step);

  // Ends an operation: its changes are kept for the commit, or forgotten.
  void Keep();
  void Discard();

  // What was kept, as the tallies see it. Points into the transaction.
  Tallies::Changes TallyChanges() const;

  // All that was kept, to be written, with the totals as `tally_changes` leave them;
  // empty if nothing was.
  WriteSet Writes(const Tallies& tallies, const Tallies::Changes& tally_changes) const;

  // After the write: makes what was kept visible to readers. Returns whether
  // anything may have become due earlier; `due_changes` gets where.
  bool Publish(RecordCache& cache, Catalog& catalog, LowWaterMarks& marks,
               DueChanges& due_changes) const;

 private:
  using Bytes = std::optional<std::string>;  // absent: deleted
  struct ItemChange {
    StoredItemPtr committed;  // before the transaction; null: no item
    StoredItemPtr after;      // null: deleted
  };

  // Where the item's entry really is; absent if it has none in this index.
  static std::optional<IndexClaim> PresentClaim(const Container& container,
                                                const StoredItemPtr& item);
  void SetItem(uint64_t container, const ItemKey& key, const StoredItemPtr& before,
               StoredItemPtr after);
  // Notes that an item of the container has an expire_at, with the first of them also the format
  // of the data.
  void NoteExpireAt(const Container& container);
  void MoveEntry(uint64_t container, const ItemKey& key, const std::optional<IndexClaim>& from,
                 const std::optional<IndexClaim>& to);

  const Catalog& catalog_;
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
  // Containers of the indexes that were written to.
  absl::flat_hash_map<uint64_t, uint64_t> owners_;
  mutable std::string encoded_;  // reused by GetItem()
  std::optional<std::optional<Pause>> pause_of_all_kept_;
  std::optional<std::optional<Pause>> pause_of_all_top_;
  std::optional<uint64_t> store_epoch_kept_;
  std::optional<uint64_t> store_epoch_top_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_TRANSACTION_H_
