#ifndef TTL_SERVICE_STORAGE_FEED_FEED_CHANGES_H_
#define TTL_SERVICE_STORAGE_FEED_FEED_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "service/base/layered_map.h"
#include "service/core/container.h"
#include "service/core/feed/feed_clock.h"
#include "service/core/feed/feed_event.h"
#include "service/core/feed/subscription.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/feed_log.h"

namespace ttl {

// The events that one commit gathers, and its changes of subscriptions, over the committed feeds.
// Each operation of a commit is kept or discarded as a whole. For one thread at a time. Costs
// nothing for a commit without any.
class FeedChanges {
 public:
  // `log` must outlive it.
  explicit FeedChanges(FeedLog& log) : log_(log) {}

  // The times of this operation, the same at each call.
  const FeedMoment& moment();

  // Adds an event to the feed with this number, at moment().now. Returns its sequence.
  uint64_t Add(uint64_t feed, FeedEvent event);

  // The sequence of the last event gathered so far, by this or an earlier commit, at least.
  // The commit reserves it, so that it may be stored as a position of the log.
  uint64_t LastSequence() { return used_top_ = log_.LastGiven(); }

  // The subscriptions as in FeedLog, with the gathered changes.
  std::optional<Subscription> FindSubscription(uint64_t feed, absl::string_view name) const;
  int64_t CountSubscriptions(uint64_t feed) const;  // 0: of all feeds
  bool HasGates(uint64_t feed) const {
    return !GatesOf(feed).empty() || log_.LacksSubscriptions(feed);
  }
  void PutSubscription(uint64_t feed, const Subscription& subscription);
  void EraseSubscription(uint64_t feed, const std::string& name);

  // Drops events at the front of a feed. Gates that have not passed them, and so can no longer read
  // them, say so from then on (Subscription::gate_sequence).
  void AddDrop(FeedLog::Drop drop);

  // A gate has got further without acknowledging.
  void Place(FeedLog::Placed placed);

  // The names of the gates that have been given up for an EXPIRED that they have not acknowledged.
  std::vector<std::string> GivenUpFor(uint64_t feed, uint64_t expired_sequence) const;

  void Keep();
  void Discard();

  // The kept changes: adds them to `writes`; and makes them visible after the write, together with
  // the changes of containers.
  void AppendTo(WriteSet& writes) const;
  // The last returns what FeedLog::Publish() does.
  std::vector<uint64_t> Publish(
      const std::vector<std::pair<uint64_t, ContainerPtr>>& containers) const;

 private:
  // With the gathered changes, in no particular order.
  std::vector<FeedLog::Gate> GatesOf(uint64_t feed) const;

  struct Encoded {
    std::string key;
    std::string value;
  };
  using Change = FeedLog::Subscribed;

  FeedLog& log_;
  std::optional<FeedMoment> moment_;
  std::vector<FeedLog::Logged> events_;
  std::vector<Encoded> encoded_;  // of the same
  std::vector<FeedLog::Drop> drops_;
  uint64_t used_ = 0;      // the last sequence that is used, of kept operations
  uint64_t used_top_ = 0;  // and of this one
  size_t kept_events_ = 0;
  size_t kept_drops_ = 0;
  std::vector<FeedLog::Placed> placed_;
  size_t kept_placed_ = 0;
  LayeredMap<std::string, Change> subscriptions_;  // by encoded key
  LayeredMap<uint64_t, int64_t> counts_;           // of them, by feed; 0: all
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FEED_FEED_CHANGES_H_
