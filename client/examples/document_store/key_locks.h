#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_KEY_LOCKS_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_KEY_LOCKS_H_

#include <array>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace documentstore {

// Locks by key, which make a read-modify-write of a document atomic. Keys share a fixed number of
// mutexes. Thread-safe.
class KeyLocks {
 public:
  // Held locks; released on destruction.
  using Held = std::vector<std::unique_lock<std::mutex>>;

  // Waits for the locks of all `keys` (encoded). A thread must not call it
  // while it holds locks.
  [[nodiscard]] Held Lock(const std::vector<std::string>& keys) {
    // In ascending order, so that threads cannot deadlock.
    std::set<size_t> stripes;
    for (const std::string& key : keys) stripes.insert(std::hash<std::string>()(key) % kStripes);
    Held held;
    for (const size_t stripe : stripes) held.emplace_back(mutexes_[stripe]);
    return held;
  }

 private:
  static constexpr size_t kStripes = 4096;
  std::array<std::mutex, kStripes> mutexes_;
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_KEY_LOCKS_H_
