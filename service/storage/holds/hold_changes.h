#ifndef TTL_SERVICE_STORAGE_HOLDS_HOLD_CHANGES_H_
#define TTL_SERVICE_STORAGE_HOLDS_HOLD_CHANGES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "service/base/layered_map.h"
#include "service/storage/format/stored_hold.h"
#include "service/storage/holds/hold_table.h"

namespace ttl {

// The changes of holds that one commit gathers, over the committed holds. Each operation of a
// commit is kept or discarded as a whole. For one thread at a time.
class HoldChanges {
 public:
  // `table` must outlive it.
  explicit HoldChanges(const HoldTable& table) : table_(table) {}

  // The same as in HoldTable, with the gathered changes.
  StoredHoldPtr Find(uint64_t number) const;
  StoredHoldPtr Find(uint64_t container, absl::string_view hold_id) const;
  int64_t CountStanding(uint64_t container) const;
  int64_t CountAll() const;

  // A new hold, or another state of one.
  void Put(StoredHold hold);
  void Erase(uint64_t number);

  void Keep();
  void Discard();

  // The kept changes.
  HoldTable::Changes kept() const;

 private:
  void Set(uint64_t number, StoredHoldPtr after);

  const HoldTable& table_;
  LayeredMap<uint64_t, StoredHoldPtr> holds_;  // null: erased
  LayeredMap<std::string, uint64_t> by_name_;  // 0: none stands
  LayeredMap<uint64_t, int64_t> counts_;       // standing, by container; 0: all that are stored
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_HOLDS_HOLD_CHANGES_H_
