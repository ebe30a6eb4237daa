#ifndef TTL_SERVICE_STORAGE_COMMIT_SCAN_MARKS_H_
#define TTL_SERVICE_STORAGE_COMMIT_SCAN_MARKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"
#include "service/storage/commit/seen_keys.h"

namespace ttl {

// Records the reports of a container that arrive while its items are read from the primary store,
// so that what is read late does not undo them.
//
// A page of items is read between BeginPage() and the commit that applies it. A store reports a
// write or a delete after it has made it. So a report committed before BeginPage() is of a change
// that the page shows, and needs no mark. A report committed later may be of a change made after
// the page was read:
//
// - a delete: the page may contain the deleted version, and nothing is tracked to compare it with.
//   The mark keeps the deleted version; only a newer one is taken from the page. Without the mark a
//   deleted item would be tracked again: for ever if it never expires, and until its delete is
//   answered NOT_FOUND otherwise.
// - a write in the same second, if the store has no sequence: on a tie the later report wins, but
//   the page is not the later one. So on a tie a marked key keeps its tracked version.
//
// In all other cases `_ts` or the sequence decides. Marks need not survive a crash, because a page
// that was not applied is read again. Their number is bounded by the time of one page, and their
// size by kMaxBytes; if a page exceeds that, it is read again with fewer items.
//
// Thread-safe. Marks are set while changes are gathered, in their order. If the commit then fails,
// the mark keeps out a version that the repeated report brings again.
class ScanMarks {
 public:
  static constexpr size_t kMaxBytes = size_t{32} << 20;

  // The last report of a key.
  struct Mark {
    bool removed = false;
    int64_t ts = 0;  // of the removal
    std::optional<uint64_t> sequence;
  };

  // A scan of a container begins, with about `expected_keys` keys. One container at a time.
  void BeginScan(uint64_t container, int64_t expected_keys);
  void BeginPage();
  void EndScan();

  // Whether the container is being scanned; takes no lock.
  bool IsReading(uint64_t container) const { return container_ == container; }

  // For commits. No effect unless the container is being scanned.
  void NoteReport(uint64_t container, absl::string_view key);
  void NoteRemoval(uint64_t container, absl::string_view key, int64_t ts,
                   std::optional<uint64_t> sequence);

  // The mark of a key since BeginPage().
  std::optional<Mark> Find(absl::string_view key) const;
  // Whether all marks of this container since BeginPage() were kept.
  bool IsComplete(uint64_t container) const;

  // NoteSeen(): the present page contains the key. WasSeen(): whether a page contained it, or it
  // was reported, since BeginScan().
  void NoteSeen(absl::string_view key);
  bool WasSeen(absl::string_view key) const;

 private:
  void Set(absl::string_view key, const Mark& mark) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> container_ = 0;  // 0: none
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, Mark> marks_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool complete_ ABSL_GUARDED_BY(mutex_) = true;
  std::unique_ptr<SeenKeys> seen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_SCAN_MARKS_H_
