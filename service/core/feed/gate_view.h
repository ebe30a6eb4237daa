#ifndef TTL_SERVICE_CORE_FEED_GATE_VIEW_H_
#define TTL_SERVICE_CORE_FEED_GATE_VIEW_H_

#include <cstdint>
#include <limits>

namespace ttl {

// What the gates (Subscription::gate) of a container let pass, together, at one moment.
struct GateView {
  bool has_gates = false;
  // All gates have acknowledged the events up to here, have been given up for them, or cannot read
  // them any more.
  uint64_t passed = std::numeric_limits<uint64_t>::max();
  // Some gate may have missed events up to here, so items with such an EXPIRED are announced again.
  uint64_t again_up_to = 0;
  // Whether the log has no room for more EXPIRED; see FeedFigures::is_full.
  bool is_full = false;

  // Whether an item may be deleted whose EXPIRED has this sequence (0: it has none).
  bool LetsPass(uint64_t expired_sequence) const {
    return !has_gates || (expired_sequence > again_up_to && expired_sequence <= passed);
  }

  friend bool operator==(const GateView&, const GateView&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_GATE_VIEW_H_
