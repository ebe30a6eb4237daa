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

// What was reported of a container while its items are read from the primary store, so
// that what is read late does not undo what was reported meanwhile.
//
// A page of items is read between BeginPage() and the commit that applies it. A store
// reports a write or a delete after it has made it. So a report committed before
// BeginPage() is of a change that the page shows, and needs no mark. One committed later
// may be of a change that the page was read before:
//   - a delete: the page may give the deleted version, and nothing is tracked that it
//     could be compared with. The mark keeps what was deleted; only a version newer than
//     that is taken from the page. Without it the item would be a ghost: tracked for
//     ever if it never expires, and until its delete is answered NOT_FOUND else.
//   - a write of the same second, where the store has no sequence: the order of reports
//     lets the later win, but the page is not the later. So at a tie a marked key keeps
//     what is tracked.
// All other orders are told by `_ts` or sequence. Nothing need survive a crash: a page
// that was not applied is read again. Marks are bounded by the time of one page, and by
// kMaxBytes; a page with more is read again, and smaller.
//
// Thread-safe. Marks are set where changes are gathered, in their order; one whose commit
// fails afterwards keeps a version out that its repeated report brings again.
class ScanMarks {
 public:
  static constexpr size_t kMaxBytes = size_t{32} << 20;

  // What was reported last of a key.
  struct Mark {
    bool removed = false;
    int64_t ts = 0;  // of the removal
    std::optional<uint64_t> sequence;
  };

  // The items of a container are being read; about so many keys will be seen. One
  // container at a time.
  void BeginScan(uint64_t container, int64_t expected_keys);
  void BeginPage();
  void EndScan();

  // Whether a container is being read; costs no lock.
  bool IsReading(uint64_t container) const { return container_ == container; }

  // By commits. No effect unless the container is being read.
  void NoteReport(uint64_t container, absl::string_view key);
  void NoteRemoval(uint64_t container, absl::string_view key, int64_t ts,
                   std::optional<uint64_t> sequence);

  // The mark of a key since BeginPage().
  std::optional<Mark> Find(absl::string_view key) const;
  // Whether all marks since BeginPage() of this container were kept.
  bool IsComplete(uint64_t container) const;

  // Whether the page of BeginPage() gave the key, or it was reported since BeginScan().
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
