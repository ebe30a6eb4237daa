#ifndef TTL_SERVICE_EXPIRY_SWEEP_SUSPECTS_H_
#define TTL_SERVICE_EXPIRY_SWEEP_SUSPECTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "service/core/item.h"
#include "service/storage/expiry_index.h"

namespace ttl {

// Keeps the items of one container apart that may be the cause of failed batches, so that one
// item whose delete hangs, or whose result makes the answer unreadable, keeps back no others for
// longer than it must. A batch that fails as a whole is split into two groups; so is a group that
// fails, until an item fails alone. Groups, items that were tried before, and all others never
// share a batch, and take turns. In memory only: after a restart the search begins anew. Pure.
// Not thread-safe.
class Suspects {
 public:
  // Keeps at most `most` items, at least 2.
  explicit Suspects(size_t most) : most_(most) {}

  size_t size() const { return group_of_.size(); }

  // Of `due`, what the next batch is made of, in the same order. Suspects that are not among
  // `due` are forgotten.
  std::vector<DueItem> Choose(std::vector<DueItem> due);

  // A batch of `items`, at least two, failed as a whole. False if there is no room for them:
  // so many failures are the store's, or the container's.
  bool Suspect(const std::vector<DueItem>& items);

  // It is known what becomes of `items`.
  void Clear(const std::vector<DueItem>& items);

 private:
  enum class Kind { kOther, kTriedBefore, kGroup };

  Kind KindOf(const DueItem& item) const;
  void Keep(const std::vector<DueItem>& due);

  const size_t most_;
  absl::flat_hash_map<ItemKey, uint64_t> group_of_;  // the least number is tried first
  uint64_t next_group_ = 1;
  Kind last_ = Kind::kGroup;  // kind of the batch chosen last
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_SUSPECTS_H_
