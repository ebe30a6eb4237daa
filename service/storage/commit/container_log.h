#ifndef TTL_SERVICE_STORAGE_COMMIT_CONTAINER_LOG_H_
#define TTL_SERVICE_STORAGE_COMMIT_CONTAINER_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ttl {

// Which containers changed last, in order. It keeps their ids and no states, so that a
// reader who comes late gets each container once, as it is by then. Bounded: of more
// than kMaxEntries changes the oldest are forgotten. Not thread-safe.
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
    // Each id once, in the order of the first changes. It counts as deleted if it was
    // at any time between, even if a container of that id was created since.
    std::vector<Entry> entries;
  };

  void Add(std::string id, bool deleted);

  // What changed is not known: nobody can go on from an earlier revision.
  void Forget();

  // How many changes there have been.
  uint64_t revision() const { return revision_; }

  // What came after `revision`, at most the first `limit` changes of it. Absent if that
  // is forgotten.
  std::optional<Window> After(uint64_t revision, size_t limit) const;

 private:
  uint64_t revision_ = 0;
  std::deque<Entry> entries_;  // the last one made revision_
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_CONTAINER_LOG_H_
