#ifndef TTL_SERVICE_CORE_FEED_FEED_STATE_H_
#define TTL_SERVICE_CORE_FEED_FEED_STATE_H_

#include <cstdint>

namespace ttl {

// The state of the feed of a container, besides its settings.
struct FeedState {
  uint64_t number = 0;          // new each time that the feed is switched on; 0: it is off
  uint64_t epoch = 0;           // random, new each time that it is switched on
  uint64_t first_sequence = 0;  // its events have larger sequences
  // Unix second at which the feed was switched on or default_ttl changed last: items that were
  // expired by then are announced late.
  int64_t policy_time = 0;
  // The revision of the container with that change, and the one up to whose policy all items that
  // live again have been announced.
  uint64_t policy_revision = 0;
  uint64_t revived_revision = 0;
  bool has_gates = false;  // a subscription of it is a gate

  bool is_on() const { return number != 0; }

  // Whether announced items may live again that have not been announced so.
  bool needs_revive_walk() const { return revived_revision < policy_revision; }

  // Whether the EXPIRED or EXPIRING with this sequence (0: none) is one of this feed, so that the
  // item that names it is announced. An item may still name one of a feed that was switched off.
  bool IsAnnounced(uint64_t expired_sequence) const {
    return is_on() && expired_sequence > first_sequence;
  }

  friend bool operator==(const FeedState&, const FeedState&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_FEED_STATE_H_
