#ifndef TTL_SERVICE_STORAGE_FEED_FEED_LOG_H_
#define TTL_SERVICE_STORAGE_FEED_FEED_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "service/base/mutex.h"
#include "service/core/container.h"
#include "service/core/feed/feed_clock.h"
#include "service/core/feed/subscription.h"
#include "service/storage/engine/database.h"

namespace ttl {

class WakeSignal;

// What is known in memory of the committed feeds: their ends, their sizes and their subscriptions;
// the events themselves stay on disk. Only the committer writes to it, except for Load(), which
// must run while nothing is committed, and what says otherwise. Thread-safe.
class FeedLog {
 public:
  // Sequences are reserved on disk in blocks of this size.
  static constexpr uint64_t kReservedBlock = uint64_t{1} << 20;

  // Reads the feeds of `containers`, replacing those known before. Reads nothing if none of them
  // has one and none ever had. A subscription that cannot be read is left out, and a log whose ends
  // cannot be read is taken as longer than it is; Problems() reports both. Returns the error of the
  // database, or DATA_LOSS if the counter of events cannot be read; then nothing has changed.
  absl::Status Load(const Database& database, const std::vector<ContainerPtr>& containers,
                    int64_t data_format);

  // What Load() could not read, one line each.
  std::vector<std::string> Problems() const;

  // Waits for a reading that is under way, so that what an earlier clock uses may be destroyed
  // then. An empty clock: nothing is judged.
  void SetClock(FeedClock clock) ABSL_LOCKS_EXCLUDED(clock_mutex_);
  FeedMoment Moment() const ABSL_LOCKS_EXCLUDED(clock_mutex_);

  // The next sequence. For the thread that gathers commits. One that is not used is never used.
  uint64_t NextSequence() { return last_given_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // The last sequence given out.
  uint64_t LastGiven() const { return last_given_.load(std::memory_order_relaxed); }

  // No event that is committed later has this sequence or a smaller one.
  uint64_t LastPublished() const { return last_published_.load(std::memory_order_acquire); }

  // If a commit that uses `last_sequence`, for an event or as a position of the log, must reserve
  // sequences: the value of kNextEventFact to write with it.
  std::optional<uint64_t> ReservationFor(uint64_t last_sequence) const;

  // An event of a commit.
  struct Logged {
    uint64_t feed = 0;
    uint64_t sequence = 0;
    absl::Time time;
    int64_t bytes = 0;  // of key and value
  };
  // Events at the front of a feed that a commit drops: up to and including `dropped_sequence`.
  struct Drop {
    uint64_t feed = 0;
    uint64_t dropped_sequence = 0;
    std::vector<std::pair<uint64_t, int64_t>> events;  // sequence and bytes
    std::optional<absl::Time> next_time;               // of the first event behind, if it was seen
    bool recount = false;  // some that it drops could not be read: count what is kept again
  };
  // A subscription after a commit; absent: deleted.
  struct Subscribed {
    uint64_t feed = 0;
    std::string name;
    std::optional<Subscription> subscription;
  };
  // The changes of one commit.
  struct Changes {
    std::vector<std::pair<uint64_t, ContainerPtr>> containers;  // by number, null: deleted
    absl::Span<const Logged> events;                            // in the order of their sequences
    std::vector<Drop> drops;
    std::vector<Subscribed> subscriptions;
    uint64_t used_sequence = 0;  // the last one that the commit uses, and reserves; 0: none
  };
  void Publish(const Changes& changes);

  // What is known of one feed.
  struct State {
    uint64_t container = 0;
    std::string container_id;
    uint64_t last_sequence = 0;     // 0: it has had no event since it was switched on
    uint64_t dropped_sequence = 0;  // 0: nothing was dropped
    // What could not be read at a start was the end of the log, which has its last sequence before
    // or at this one. 0: it could be read.
    uint64_t damaged_end = 0;
    int64_t events = 0;  // those counted so far
    int64_t bytes = 0;   // of those
    // The events behind this sequence, up to count_until, are still to be counted; absent: none
    // are.
    std::optional<uint64_t> counted_to;
    uint64_t count_until = 0;
    std::optional<absl::Time> oldest_time;  // of the first event kept; absent: unknown, or none

    bool is_empty() const { return last_sequence <= dropped_sequence; }
  };
  // Absent if there is no such feed.
  std::optional<State> Find(uint64_t feed) const;
  // The numbers of at most `limit` feeds from `first` on, ascending.
  std::vector<uint64_t> Feeds(uint64_t first, size_t limit) const;

  // For housekeeping, which alone calls these. The first: events counted behind State::counted_to
  // up to `reached`; `finished` if there are no more to count. The second: the first event kept is
  // from this time. The third, before a commit with such a Drop is submitted, so that no reader
  // relies on events up to `dropped_sequence`. The fourth, with the value before, if that commit
  // failed.
  void AddCounted(uint64_t feed, uint64_t reached, int64_t events, int64_t bytes, bool finished);
  void NoteOldest(uint64_t feed, absl::Time time);
  void SetDropped(uint64_t feed, uint64_t dropped_sequence);
  void TakeBackDropped(uint64_t feed, uint64_t dropped_sequence);

  // The subscriptions.
  std::optional<Subscription> FindSubscription(uint64_t feed, absl::string_view name) const;
  int64_t CountSubscriptions(uint64_t feed) const;  // 0: of all feeds
  // At most `limit`, with their feeds, of one feed or (0) of all, behind (`after_container` id,
  // `after_name`), in that order.
  std::vector<std::pair<uint64_t, Subscription>> ListSubscriptions(
      uint64_t feed, absl::string_view after_container, absl::string_view after_name,
      size_t limit) const;

  void AddListener(WakeSignal& signal);
  void RemoveListener(WakeSignal& signal);

 private:
  struct OfFeed {
    State state;
    absl::btree_map<std::string, Subscription> subscriptions;
  };
  static absl::Status LoadEnds(const Database& database, uint64_t number, uint64_t last_reserved,
                               State& state, std::vector<std::string>& problems);
  static absl::StatusOr<uint64_t> LoadDropped(const Database& database, uint64_t number,
                                              uint64_t last_reserved);
  static absl::Status LoadSubscriptions(const Database& database, uint64_t number, OfFeed& feed,
                                        std::vector<std::string>& problems);
  // Returns whether a feed is gone.
  bool PublishContainer(uint64_t number, const ContainerPtr& container)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishEvent(const Logged& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishDrop(const Drop& drop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishSubscription(const Subscribed& subscribed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> last_given_ = 0;
  std::atomic<uint64_t> last_published_ = 0;

  mutable Mutex clock_mutex_;
  FeedClock clock_ ABSL_GUARDED_BY(clock_mutex_);

  mutable Mutex mutex_;
  uint64_t reserved_end_ ABSL_GUARDED_BY(mutex_) = 1;         // smaller sequences are reserved
  std::map<uint64_t, OfFeed> feeds_ ABSL_GUARDED_BY(mutex_);  // by number
  absl::flat_hash_map<uint64_t, uint64_t> feed_by_container_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<std::string, uint64_t> feed_by_id_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> problems_ ABSL_GUARDED_BY(mutex_);
  std::vector<WakeSignal*> listeners_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FEED_FEED_LOG_H_
