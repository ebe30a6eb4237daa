#ifndef TTL_SERVICE_STORAGE_LAYERED_MAP_H_
#define TTL_SERVICE_STORAGE_LAYERED_MAP_H_

#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ttl {

// A map with a layer on top that is kept or discarded as a whole. Not
// thread-safe.
template <typename Key, typename Value>
class LayeredMap {
 public:
  // Null if the key was never set.
  template <typename Lookup>
  const Value* Find(const Lookup& key) const {
    for (const auto* layer : {&top_, &kept_}) {
      const auto it = layer->find(key);
      if (it != layer->end()) return &it->second;
    }
    return nullptr;
  }

  void Set(Key key, Value value) { top_.insert_or_assign(std::move(key), std::move(value)); }

  void Keep() {
    if (kept_.empty()) {
      kept_.swap(top_);
      return;
    }
    for (auto& [key, value] : top_) kept_.insert_or_assign(key, std::move(value));
    top_.clear();
  }
  void Discard() { top_.clear(); }

  const absl::flat_hash_map<Key, Value>& kept() const { return kept_; }
  const absl::flat_hash_map<Key, Value>& top() const { return top_; }

 private:
  absl::flat_hash_map<Key, Value> kept_;
  absl::flat_hash_map<Key, Value> top_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_LAYERED_MAP_H_
