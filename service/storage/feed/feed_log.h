#ifndef TTL_SERVICE_STORAGE_FEED_FEED_LOG_H_
#define TTL_SERVICE_STORAGE_FEED_FEED_LOG_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "service/base/mutex.h"
#include "service/core/container.h"
#include "service/core/feed/feed_clock.h"
#include "service/core/feed/gate_view.h"
#include "service/core/feed/pass_times.h"
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
  // cannot be read is taken as longer than it is; Problems() reports both. If the one that is left
  // out may be a gate, its feed lets no item pass until one of that name is created again. Returns
  // the error of the database, or DATA_LOSS if the counter of events cannot be read; then nothing
  // has changed.
  absl::Status Load(const Database& database, const std::vector<ContainerPtr>& containers,
                    int64_t data_format);

  // What Load() could not read, one line each.
  std::vector<std::string> Problems() const;

  // Waits for a reading that is under way, so that what an earlier clock uses may be destroyed
  // then. An empty clock: nothing is judged.
  void SetClock(FeedClock clock) ABSL_LOCKS_EXCLUDED(clock_mutex_);
  FeedMoment Moment() const ABSL_LOCKS_EXCLUDED(clock_mutex_);

  // Serving time: whole seconds that this process and those before it have run in all, as far as
  // Moment() was called meanwhile and could be given up. It stands still for what is longer between
  // two readings than kLongestStep, such as a suspension of the machine.
  int64_t ServedSeconds() const ABSL_LOCKS_EXCLUDED(clock_mutex_);
  static constexpr absl::Duration kLongestStep = absl::Seconds(30);

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
    uint64_t next_sequence = 0;                        // and its sequence; 0: it was not seen
    bool recount = false;  // some that it drops could not be read: count what is kept again
  };
  // A subscription after a commit; absent: deleted.
  struct Subscribed {
    uint64_t feed = 0;
    std::string name;
    std::optional<Subscription> subscription;
  };
  // How far a gate has got without acknowledging, in memory only.
  struct GatePlace {
    // Items with this EXPIRED, or an earlier one, no longer wait for it.
    uint64_t given_up = 0;
    // Between its other places and this event there is no EXPIRED, and so nothing that waits.
    uint64_t passed_over = 0;
  };
  // A gate's place after a commit; the larger sequences count.
  struct Placed {
    uint64_t feed = 0;
    std::string name;
    absl::Time create_time;  // of the gate: of another one of that name nothing is known
    GatePlace place;
  };
  // The changes of one commit.
  struct Changes {
    std::vector<std::pair<uint64_t, ContainerPtr>> containers;  // by number, null: deleted
    absl::Span<const Logged> events;                            // in the order of their sequences
    std::vector<Drop> drops;
    std::vector<Subscribed> subscriptions;
    std::vector<Placed> placed;
    uint64_t used_sequence = 0;  // the last one that the commit uses, and reserves; 0: none
  };
  // Returns the containers whose gates let more pass than before.
  std::vector<uint64_t> Publish(const Changes& changes);

  // What is known of one feed.
  struct State {
    uint64_t container = 0;
    std::string container_id;
    uint64_t last_sequence = 0;     // 0: it has had no event since it was switched on
    uint64_t dropped_sequence = 0;  // 0: nothing was dropped
    // What could not be read at a start was the end of the log, which has its last sequence before
    // or at this one. 0: it could be read.
    uint64_t damaged_end = 0;
    bool lost_front = false;  // dropped_sequence could not be read at a start, and is a guess
    int64_t events = 0;       // those counted so far
    int64_t bytes = 0;        // of those
    // The events behind this sequence, up to count_until, are still to be counted; absent: none
    // are.
    std::optional<uint64_t> counted_to;
    uint64_t count_until = 0;
    std::optional<absl::Time> oldest_time;  // of the first event kept; absent: unknown, or none
    uint64_t front_sequence = 0;            // of the first event kept; 0: unknown, or none
    int64_t max_bytes = 0;                  // as configured

    bool is_empty() const { return last_sequence <= dropped_sequence; }
  };
  // Absent if there is no such feed.
  std::optional<State> Find(uint64_t feed) const;
  // The numbers of at most `limit` feeds from `first` on, ascending.
  std::vector<uint64_t> Feeds(uint64_t first, size_t limit) const;

  // For housekeeping, which alone calls these. The first: events counted behind State::counted_to
  // up to `reached`; `finished` if there are no more to count. The second: the first event kept has
  // this sequence and time (absent: it cannot be read). The third, before a commit with such a Drop
  // is submitted, so that no reader relies on events up to `dropped_sequence`. The fourth, with the
  // value before, if that commit failed.
  void AddCounted(uint64_t feed, uint64_t reached, int64_t events, int64_t bytes, bool finished);
  void NoteOldest(uint64_t feed, uint64_t sequence, std::optional<absl::Time> time);
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

  // What the gates of a feed let pass, together; and since when.
  GateView Gates(uint64_t feed) const;
  PassTimes PassTimesOf(uint64_t feed) const;

  // Whether any container may have items that were set aside for gates, which may be gone since.
  bool MayHaveGated() const { return may_have_gated_; }

  // A gate with its place in the log.
  struct Gate {
    Subscription subscription;
    GatePlace place;

    // Events up to here may be dropped as far as it is concerned.
    uint64_t kept_behind() const {
      return std::max(
          {subscription.acknowledged_sequence, place.given_up, subscription.gate_sequence});
    }
    // Nothing up to here waits for it: see GateView::passed.
    uint64_t passed() const { return std::max(kept_behind(), place.passed_over); }
  };
  // In the order of their names. Cheap where no feed has one.
  std::vector<Gate> GatesOf(uint64_t feed) const;
  // All 0 if there is no such gate.
  GatePlace PlaceOf(uint64_t feed, absl::string_view name) const;
  // Events up to here may be dropped as far as gates are concerned.
  uint64_t KeptBehind(uint64_t feed) const;
  // Whether subscriptions of the feed could not be read, which may be gates.
  bool LacksSubscriptions(uint64_t feed) const;

  // A reader has found that events up to `sequence` are missing. Gates that have not passed them
  // may never get them: they say so at once (Subscription::gate_sequence), and are given out by
  // TakeRaised(). Thread-safe.
  void NoteMissing(uint64_t feed, uint64_t sequence);

  // Whether a gate of the feed can be given up. Cheap where no feed has one of those.
  bool CanGiveUp(uint64_t feed) const;
  // Whether any can, of all feeds.
  bool CanGiveUpAny() const { return gates_to_give_up_ > 0; }

  // Gates that may have missed events because of damage: whose gate_sequence may be larger than
  // stored. Each is given out once, as (feed, name).
  std::vector<std::pair<uint64_t, std::string>> TakeRaised();

  void AddListener(WakeSignal& signal);
  void RemoveListener(WakeSignal& signal);

 private:
  struct OfFeed {
    State state;
    absl::btree_map<std::string, Subscription> subscriptions;
    absl::flat_hash_map<std::string, GatePlace> places;  // of gates, by name
    // Those that could not be read, and may be gates, until they are created again; and whether
    // there may be more, whose names could not be read either.
    absl::flat_hash_set<std::string> unreadable;
    bool may_lack_more = false;
    GateView gates;                                               // of these, but for is_full
    uint64_t kept_behind = std::numeric_limits<uint64_t>::max();  // see KeptBehind()
    bool can_give_up = false;
    PassTimes pass_times;

    bool lacks_subscriptions() const { return may_lack_more || !unreadable.empty(); }
    Gate GateOf(const Subscription& subscription) const;
    bool IsFull() const;
    // Derives `gates`. Returns whether they let more pass than before, from `now` on.
    bool UpdateGates(absl::Time now);
  };
  static absl::Status LoadEnds(const Database& database, uint64_t number, uint64_t last_reserved,
                               State& state, std::vector<std::string>& problems);
  static absl::StatusOr<uint64_t> LoadDropped(const Database& database, uint64_t number,
                                              uint64_t last_reserved, bool& is_guess);
  static absl::Status LoadSubscriptions(const Database& database, uint64_t number, OfFeed& feed,
                                        std::vector<std::string>& problems);
  static void LoadGates(OfFeed& feed, bool may_have_gates,
                        std::vector<std::pair<uint64_t, std::string>>& raised, uint64_t number);
  // Returns whether a feed is gone.
  bool PublishContainer(uint64_t number, const ContainerPtr& container)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishEvent(const Logged& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishDrop(const Drop& drop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishSubscription(const Subscribed& subscribed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishPlace(const Placed& placed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Derives what gates let pass, and how many there are: of the feeds that change, whose containers
  // it returns if they let more pass; or of all.
  std::vector<uint64_t> UpdateGates(const Changes& changes, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void UpdateAllGates(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountGates() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> last_given_ = 0;
  std::atomic<uint64_t> last_published_ = 0;
  std::atomic<int64_t> gates_ = 0;             // of all feeds
  std::atomic<int64_t> gates_to_give_up_ = 0;  // of those
  std::atomic<bool> may_have_gated_ = false;

  mutable Mutex clock_mutex_;
  FeedClock clock_ ABSL_GUARDED_BY(clock_mutex_);
  mutable absl::Duration served_ ABSL_GUARDED_BY(clock_mutex_);
  mutable std::optional<absl::Duration> last_steady_ ABSL_GUARDED_BY(clock_mutex_);

  mutable Mutex mutex_;
  uint64_t reserved_end_ ABSL_GUARDED_BY(mutex_) = 1;         // smaller sequences are reserved
  std::map<uint64_t, OfFeed> feeds_ ABSL_GUARDED_BY(mutex_);  // by number
  absl::flat_hash_map<uint64_t, uint64_t> feed_by_container_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<std::string, uint64_t> feed_by_id_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> problems_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<uint64_t, std::string>> raised_ ABSL_GUARDED_BY(mutex_);
  std::vector<WakeSignal*> listeners_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FEED_FEED_LOG_H_
