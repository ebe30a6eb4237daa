#ifndef TTL_SERVICE_STORAGE_COMMIT_SEEN_KEYS_H_
#define TTL_SERVICE_STORAGE_COMMIT_SEEN_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace ttl {

// A set of keys in bounded memory (a Bloom filter). It never loses a key, but may report one that
// was not added: fewer than one in a hundred if no more keys are added than expected. Not
// thread-safe.
class SeenKeys {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  explicit SeenKeys(int64_t expected_keys);

  void Add(absl::string_view key);
  bool Contains(absl::string_view key) const;

 private:
  static constexpr int kProbes = 4;
  static constexpr int64_t kBitsPerKey = 16;

  template <typename Visit>
  bool VisitBits(absl::string_view key, Visit visit) const;

  std::vector<uint64_t> words_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_SEEN_KEYS_H_
