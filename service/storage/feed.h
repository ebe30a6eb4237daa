#ifndef TTL_SERVICE_STORAGE_FEED_H_
#define TTL_SERVICE_STORAGE_FEED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/container.h"
#include "service/core/feed/feed_clock.h"
#include "service/core/feed/feed_event.h"
#include "service/core/feed/gate_view.h"
#include "service/core/feed/subscription.h"
#include "service/core/item.h"

namespace ttl {

class Catalog;
class CommitQueue;
class Database;
class DeleteGate;
class FeedLog;
class HoldTable;
class Tallies;
class WakeSignal;

// An item as the announcer has found it.
struct AnnouncedItem {
  ItemKey key;
  uint64_t generation = 0;  // see TrackedItem
  // Whether it was already said that all items with its expire time, or of its notice, were
  // announced.
  bool late = false;
};

// What to read of the log.
struct FeedQuery {
  std::vector<ContainerPtr> containers;  // as found in Containers; each with a feed
  uint64_t after = 0;                    // events with larger sequences
  std::vector<EventKind> kinds;          // empty: all; kResync is always read
  size_t max_events = 1000;
  size_t max_bytes = size_t{1} << 20;  // as stored; exceeded by at most one event
  size_t max_examined = 10'000;        // events looked at, whatever their kind
};

// Events in the order of the log.
struct FeedPage {
  struct Entry {
    ContainerPtr container;  // of the query
    FeedEvent event;
  };
  std::vector<Entry> entries;
  uint64_t reached =
      0;              // all events of the query up to this sequence are in this page or before it
  bool more = false;  // there may be events behind it now
};

// A subscription as stored, with the state of the log that it reads.
struct SubscriptionView {
  std::string container_id;
  Subscription subscription;
  uint64_t last_sequence = 0;  // of the feed; 0: it has had no event yet
  // Whether events that it had not acknowledged were dropped.
  bool has_lost_events = false;
  // Of a gate: items whose EXPIRED has this sequence or a smaller one no longer wait for it,
  // because its give_up_after is over; 0: none.
  uint64_t given_up_sequence = 0;
};

// The feed of one container in numbers.
struct FeedFigures {
  int64_t events = 0;                     // kept
  int64_t bytes = 0;                      // of those, as stored
  bool is_lower_bound = false;            // after a start, until all kept events are counted
  std::optional<absl::Time> oldest_time;  // of the kept events; absent if there is none, or unknown
  uint64_t last_sequence = 0;             // 0: it has had no event yet
  uint64_t dropped_sequence = 0;          // of the last event dropped; 0: none was
  int64_t announced_items = 0;            // items whose EXPIRED has not ended, of those counted
  bool announced_items_counted = false;   // whether those are all; see Tallies
  int64_t gated_items = 0;  // due items set aside until the gates let them pass, of those counted
  // Whether max_bytes are used up by events that a gate has not acknowledged: then no EXPIRED and
  // no EXPIRING is logged, so nothing new is deleted.
  bool is_full = false;
};

// A due item that the gates of its container do not let pass.
struct GatedItem {
  ItemKey key;
  uint64_t generation = 0;  // see TrackedItem
  bool late = false;        // as in AnnouncedItem
};

// Unacknowledged events, counted.
struct EventsBehind {
  int64_t count = 0;
  bool is_lower_bound = false;            // counting stopped at its limit, or some are unreadable
  std::optional<absl::Time> oldest_time;  // absent: there are none
};

// The feeds: the log of what expires and is deleted in the containers that have one, and its
// subscriptions. Events are written in the commit of the change that they tell of; see
// feed/event_writer.h. Thread-safe. Errors of all changes, besides those named: NOT_FOUND if the
// container does not exist, FAILED_PRECONDITION if it has no feed, UNAVAILABLE if storage refuses
// writes, RESOURCE_EXHAUSTED if too many changes are queued.
class Feed {
 public:
  struct Parts {
    const Database& database;
    CommitQueue& queue;
    const Catalog& catalog;
    FeedLog& log;
    const HoldTable& holds;
    const Tallies& tallies;
    DeleteGate& gate;
  };

  // `parts` must outlive it.
  explicit Feed(const Parts& parts) : parts_(parts) {}

  // Sets the times by which events are written. Until then, and with an empty clock, nothing is
  // judged, and events have the time 0. Waits for a reading of the clock set before.
  void SetClock(FeedClock clock);

  // Announces the items that are expired and have not been announced, each judged again by the
  // policy and the time of the commit, if its generation is still the same: EXPIRED. All in one
  // commit. An item whose state is unknown is never announced. Answers how many were announced; 0
  // without an error if the container is gone or has no feed, or if nothing may be judged.
  void Announce(uint64_t container, std::vector<AnnouncedItem> items, Done<int64_t> done);

  // The same for items that will expire within the notice: EXPIRING, once for each version, and
  // again if its end was moved by more than the notice since. Announced items get none.
  void AnnounceExpiring(uint64_t container, std::vector<AnnouncedItem> items, Done<int64_t> done);

  // The same for announced items that are not expired any more: REVIVED, and they count as not
  // announced.
  void Revive(uint64_t container, std::vector<AnnouncedItem> items, Done<int64_t> done);

  // States that all announced items that live under the policy of that revision of the container
  // (FeedState::policy_revision) have been revived.
  void NoteRevived(uint64_t container, uint64_t policy_revision, DoneStatus done);

  // Moves due items out of the way of the sweep, until the gates of the container have passed their
  // EXPIRED, which is logged in the same commit where they have none that all gates can read: each
  // item that is unchanged, is not held aside, and does not pass now. Answers how many were moved;
  // 0 without an error as Announce(). Those that may not be judged now stay where they are.
  void SetAside(uint64_t container, std::vector<GatedItem> items, Done<int64_t> done);

  // Logs that events may be missing: RESYNC, in this container, or (0) in all that have a feed.
  void Resync(uint64_t container, DoneStatus done);

  // Creates a subscription, which must be valid. It begins behind the last event, a gate at the
  // oldest event that is kept; its create time, acknowledgement and gate_sequence are set here.
  // ALREADY_EXISTS; RESOURCE_EXHAUSTED beyond kMaxSubscriptions. With a gate, `done` is called when
  // it is durable and no delete that was in flight when it was committed can still be carried out;
  // on a commit thread, or on the one that gives back the last pass of the delete gate.
  void Subscribe(std::string container_id, Subscription subscription, absl::Time now,
                 Done<SubscriptionView> done);
  // Items no longer wait for it. NOT_FOUND if there is none of that name.
  void Unsubscribe(std::string container_id, std::string name, DoneStatus done);
  // Answers the sequence acknowledged now, which never falls. NOT_FOUND if there is no subscription
  // of that name; OUT_OF_RANGE beyond the last event of the log, or if `epoch` is not EpochOf() the
  // container.
  void Acknowledge(std::string container_id, std::string name, uint64_t epoch, uint64_t sequence,
                   Done<uint64_t> done);

  // Absent if there is none. Reads nothing from disk.
  std::optional<SubscriptionView> Find(absl::string_view container_id,
                                       absl::string_view name) const;
  // At most `limit` subscriptions of one container or (empty) of all, behind (`after_container` id,
  // `after_name`), in that order; for one container, `after_container` does not matter. Reads
  // nothing from disk.
  std::vector<SubscriptionView> List(absl::string_view container_id,
                                     absl::string_view after_container,
                                     absl::string_view after_name, size_t limit) const;

  // Identity of the log of a container: differs after its feed was switched on again, its container
  // was created again, and the data was restored, repaired or replaced.
  uint64_t EpochOf(const Container& container) const;

  // Sequence of the last committed event of all feeds, at least. Reads nothing from disk.
  uint64_t LastSequence() const;

  // A page of events; those that cannot be read are given as RESYNC. OUT_OF_RANGE if an event
  // behind `after` was dropped, or if `after` is beyond LastSequence(); FAILED_PRECONDITION if the
  // feed of one of the containers has been switched off. Blocks only for reads.
  absl::StatusOr<FeedPage> Read(const FeedQuery& query) const;

  // Counts the events of a container behind `after`, at most `limit`.
  absl::StatusOr<EventsBehind> CountBehind(const Container& container, uint64_t after,
                                           size_t limit) const;

  // Reads nothing from disk. All 0 for a container without a feed.
  FeedFigures Figures(const Container& container) const;

  // What the gates of the container let pass now. Cheap: reads nothing from disk.
  GateView Gates(const Container& container) const;
  // The names of the gates that do not let an item pass whose EXPIRED has this sequence (0: it has
  // none), in their order. Reads nothing from disk.
  std::vector<std::string> WaitingFor(const Container& container, uint64_t expired_sequence) const;
  // Whether due items wait for gates, set aside or because the log is full. Reads nothing from
  // disk.
  bool HasWaiting(const Container& container) const;
  // The names of the gates that these wait for, in their order: those that are furthest behind.
  // Empty if no items wait. Reads nothing from disk.
  std::vector<std::string> GatesThatWait(const Container& container) const;

  // Notifies `signal` whenever events were committed, or a feed or a subscription is gone, until it
  // is removed. `signal` is not notified after RemoveListener() returns.
  void AddListener(WakeSignal& signal);
  void RemoveListener(WakeSignal& signal);

 private:
  // The subscription may be gone again.
  void AnswerSubscribed(const std::string& container_id, const std::string& name,
                        Done<SubscriptionView> done) const;

  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FEED_H_
