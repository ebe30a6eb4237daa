#ifndef TTL_JUDGED_ITEM_H_
#define TTL_JUDGED_ITEM_H_

#include <cstdint>
#include <optional>

namespace ttl {

// The times of an item that a LocalEvaluator judges, as the store has just read them.
struct JudgedItem {
  int64_t ts = 0;                         // `_ts`, in Unix seconds
  std::optional<int64_t> ttl = {};        // seconds; absent: the container's default counts
  std::optional<int64_t> expire_at = {};  // Unix seconds; absent: the item has none
};

}  // namespace ttl

#endif  // TTL_JUDGED_ITEM_H_
