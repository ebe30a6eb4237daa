#ifndef TTL_SERVICE_EXPIRY_SWEEP_SUSPECTS_H_
#define TTL_SERVICE_EXPIRY_SWEEP_SUSPECTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "service/core/item.h"
#include "service/storage/expiry_index.h"

namespace ttl {

// Isolates the items of one container that may have caused failed batches, so that an item whose
// delete hangs, or whose result makes the response unreadable, delays other items as little as
// possible.
//
// The search is a bisection: a batch that fails as a whole is split into two groups, and so is a
// group that fails, until an item fails alone. Groups, retried items, and all other items never
// share a batch, and the three kinds take turns. The state is in memory only: after a restart the
// search begins anew. Pure. Not thread-safe.
class Suspects {
 public:
  // Holds at most `most` items; `most` is at least 2.
  explicit Suspects(size_t most) : most_(most) {}

  size_t size() const { return group_of_.size(); }

  // Returns the items of `due` for the next batch, in the same order. Suspects that are not in
  // `due` are forgotten.
  std::vector<DueItem> Choose(std::vector<DueItem> due);

  // Records that a batch of `items`, at least two, failed as a whole. Returns false, and records
  // nothing, if they do not fit: so many failures are not the fault of a single item.
  bool Suspect(const std::vector<DueItem>& items);

  // Forgets `items`: their outcomes are known.
  void Clear(const std::vector<DueItem>& items);

 private:
  enum class Kind { kOther, kTriedBefore, kGroup };

  Kind KindOf(const DueItem& item) const;
  void Keep(const std::vector<DueItem>& due);

  const size_t most_;
  absl::flat_hash_map<ItemKey, uint64_t> group_of_;  // the lowest number is tried first
  uint64_t next_group_ = 1;
  Kind last_ = Kind::kGroup;  // kind of the batch chosen last
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_SUSPECTS_H_
