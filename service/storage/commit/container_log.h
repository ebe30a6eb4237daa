#ifndef TTL_SERVICE_STORAGE_COMMIT_CONTAINER_LOG_H_
#define TTL_SERVICE_STORAGE_COMMIT_CONTAINER_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ttl {

// The containers that changed last, in order. It keeps their ids and not their states, so that a
// late reader gets each container once, in its present state. Bounded: after kMaxEntries changes
// the oldest are dropped. Not thread-safe.
class ContainerLog {
 public:
  static constexpr size_t kMaxEntries = 4096;

  struct Entry {
    std::string id;
    bool deleted = false;
  };

  // The changes between two revisions.
  struct Window {
    uint64_t revision = 0;  // the later one
    // Each id once, in the order of the first changes. An id counts as deleted if its container was
    // deleted at any time in between, even if another one was created since.
    std::vector<Entry> entries;
  };

  void Add(std::string id, bool deleted);

  // The changes are unknown: no reader can continue from an earlier revision.
  void Forget();

  // The number of changes so far.
  uint64_t revision() const { return revision_; }

  // The changes after `revision`, at most the first `limit`. Absent if they were dropped.
  std::optional<Window> After(uint64_t revision, size_t limit) const;

 private:
  uint64_t revision_ = 0;
  std::deque<Entry> entries_;  // the last one made revision_
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_CONTAINER_LOG_H_
