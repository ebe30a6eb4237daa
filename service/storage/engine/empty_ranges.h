#ifndef TTL_SERVICE_STORAGE_ENGINE_EMPTY_RANGES_H_
#define TTL_SERVICE_STORAGE_ENGINE_EMPTY_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"

namespace ttl {

// Ranges of keys that are known to be empty.
//
// An erased key stays on disk until it is compacted, and a seek passes all erased keys up to the
// next existing one. So a seek into an emptied container passes what was erased from all emptied
// containers behind it, and searching each of N of them costs N * N / 2 steps. Therefore a seek
// records here the range that it found empty, and the next one starts behind it.
//
// Only wide ranges are kept, so that there are few; a seek through a range that is not kept passes
// fewer than kMinNumbers containers and indexes. In memory. Thread-safe.
class EmptyRanges {
 public:
  // A range is wide if it covers this many numbers of containers or indexes, or the end of a table.
  static constexpr uint64_t kMinNumbers = 32;

  // Keys and their new values; absent for an erased key.
  using Writes = std::vector<std::pair<std::string, std::optional<std::string>>>;

  // One seek. For one thread; must not outlive the ranges.
  class Look {
   public:
    // `take_snapshot` fixes the state that the seek reads. It is called at once, and must not use
    // the ranges.
    Look(EmptyRanges& ranges, absl::string_view start, absl::FunctionRef<void()> take_snapshot);
    ~Look();
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    // The key to seek to: there is no key from `start` up to it.
    const std::string& from() const { return from_; }

    // The seek found this first key; absent: none.
    void Found(std::optional<absl::string_view> key);

   private:
    friend class EmptyRanges;

    EmptyRanges& ranges_;
    const std::string start_;
    std::string from_;
    // Guarded by the ranges' mutex: where a key was written that the snapshot may not have,
    // and whether the write under way may be such a one.
    std::optional<std::string> limit_;
    bool may_miss_write_ = false;
  };

  // A write begins, and ends; in between it may or may not be visible. One write at a time.
  // `writes` must live until EndWrite().
  void BeginWrite(const Writes& writes);
  void EndWrite();

  // Forgets all ranges. REQUIRES: there is no Look.
  void Clear();

  // The number of ranges.
  size_t size() const;

 private:
  static bool IsWide(absl::string_view from, absl::string_view to);
  // Removes `key` from the range that contains it.
  void Cut(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Add(std::string from, std::string to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void Limit(Look& look, const Writes& writes);

  mutable Mutex mutex_;
  std::map<std::string, std::string> ends_ ABSL_GUARDED_BY(mutex_);  // by the first key
  std::vector<Look*> looks_ ABSL_GUARDED_BY(mutex_);
  const Writes* writes_ ABSL_GUARDED_BY(mutex_) = nullptr;  // under way
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_EMPTY_RANGES_H_
