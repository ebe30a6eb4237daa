#ifndef TTL_SERVICE_BASE_LAYERED_MAP_H_
#define TTL_SERVICE_BASE_LAYERED_MAP_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"

namespace ttl {

// A map whose latest changes are kept or discarded as a whole. Keeping, the usual case, costs
// nothing; discarding undoes the changes one by one. Not thread-safe.
template <typename Key, typename Value>
class LayeredMap {
 public:
  // Null if the key was never set.
  template <typename Lookup>
  const Value* Find(const Lookup& key) const {
    const auto it = map_.find(key);
    return it == map_.end() ? nullptr : &it->second;
  }

  void Set(Key key, Value value) {
    const auto [it, is_new] = map_.try_emplace(std::move(key));
    auto& [changed, before] = undo_.emplace_back(&it->first, std::nullopt);
    if (!is_new) before.emplace(std::move(it->second));
    it->second = std::move(value);
  }

  void Keep() { undo_.clear(); }

  void Discard() {
    for (; !undo_.empty(); undo_.pop_back()) {
      auto& [changed, before] = undo_.back();
      const auto it = map_.find(*changed);
      if (before.has_value()) {
        it->second = *std::move(before);
      } else {
        map_.erase(it);
      }
    }
  }

  // All, with the changes since Keep() or Discard().
  const absl::node_hash_map<Key, Value>& all() const { return map_; }

  // REQUIRES: no change since Keep() or Discard().
  const absl::node_hash_map<Key, Value>& kept() const { return map_; }

 private:
  absl::node_hash_map<Key, Value> map_;  // its keys stay where they are
  // The value before each change since the last Keep() or Discard(); absent: none.
  std::vector<std::pair<const Key*, std::optional<Value>>> undo_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_LAYERED_MAP_H_
