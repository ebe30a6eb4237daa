#ifndef TTL_SERVICE_RPC_STATUS_SENT_MARKS_H_
#define TTL_SERVICE_RPC_STATUS_SENT_MARKS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"

namespace ttl {

// What the streams of WatchEvents have sent since the process started: for each subscription the
// last event and the streams that are open, and the number of events over all. A subscription is
// named by the number of its feed and its name. Thread-safe.
class SentMarks {
 public:
  // A stream of a subscription is opened or has ended.
  void Open(uint64_t feed, absl::string_view subscription) {
    const MutexLock lock(mutex_);
    // Marks of subscriptions that went with their container are never forgotten otherwise.
    if (marks_.size() >= kMaxMarks) {
      absl::erase_if(marks_, [](const auto& mark) { return mark.second.streams == 0; });
    }
    ++marks_[Key(feed, subscription)].streams;
  }
  void Close(uint64_t feed, absl::string_view subscription) {
    const MutexLock lock(mutex_);
    const auto mark = marks_.find(Key(feed, subscription));
    if (mark != marks_.end() && mark->second.streams > 0) --mark->second.streams;
  }

  // Events up to and including `sequence` are being sent to a subscription.
  void Send(uint64_t feed, absl::string_view subscription, uint64_t sequence) {
    const MutexLock lock(mutex_);
    const auto mark = marks_.find(Key(feed, subscription));
    if (mark == marks_.end()) return;  // deleted meanwhile
    mark->second.sent = std::max(mark->second.sent, sequence);
  }

  // The last event that was sent to a subscription; 0 if none was.
  uint64_t SentThrough(uint64_t feed, absl::string_view subscription) const {
    const MutexLock lock(mutex_);
    const auto mark = marks_.find(Key(feed, subscription));
    return mark == marks_.end() ? 0 : mark->second.sent;
  }

  int Streams(uint64_t feed, absl::string_view subscription) const {
    const MutexLock lock(mutex_);
    const auto mark = marks_.find(Key(feed, subscription));
    return mark == marks_.end() ? 0 : mark->second.streams;
  }

  // A subscription was deleted.
  void Forget(uint64_t feed, absl::string_view subscription) {
    const MutexLock lock(mutex_);
    marks_.erase(Key(feed, subscription));
  }

  // All events sent on all streams.
  void CountEvents(int64_t events) { events_.fetch_add(events, std::memory_order_relaxed); }
  int64_t events() const { return events_.load(std::memory_order_relaxed); }

 private:
  struct Mark {
    uint64_t sent = 0;
    int streams = 0;
  };
  using FullName = std::pair<uint64_t, std::string>;
  static constexpr size_t kMaxMarks = 1000;

  static FullName Key(uint64_t feed, absl::string_view subscription) {
    return {feed, std::string(subscription)};
  }

  mutable Mutex mutex_;
  absl::flat_hash_map<FullName, Mark> marks_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> events_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_SENT_MARKS_H_
