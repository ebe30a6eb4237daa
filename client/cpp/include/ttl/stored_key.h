#ifndef TTL_STORED_KEY_H_
#define TTL_STORED_KEY_H_

#include <string>
#include <tuple>

namespace ttl {

// The key of an item within its container; any bytes.
struct StoredKey {
  std::string partition_key;
  std::string id;

  friend bool operator==(const StoredKey& a, const StoredKey& b) {
    return std::tie(a.partition_key, a.id) == std::tie(b.partition_key, b.id);
  }
  friend bool operator!=(const StoredKey& a, const StoredKey& b) { return !(a == b); }
  // By partition key, then by id.
  friend bool operator<(const StoredKey& a, const StoredKey& b) {
    return std::tie(a.partition_key, a.id) < std::tie(b.partition_key, b.id);
  }
};

}  // namespace ttl

#endif  // TTL_STORED_KEY_H_
