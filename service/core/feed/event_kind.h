#ifndef TTL_SERVICE_CORE_FEED_EVENT_KIND_H_
#define TTL_SERVICE_CORE_FEED_EVENT_KIND_H_

namespace ttl {

// What an event tells. Values and meaning are those of EventKind in feed.proto. Each kExpired of an
// item ends in exactly one of kPurged, kGone, kRevived and kReplaced.
enum class EventKind {
  kExpired = 1,
  kPurged = 2,
  kGone = 3,
  kRevived = 4,
  kReplaced = 5,
  kPolicyChanged = 6,
  kResync = 7,
  kExpiring = 8,
};

inline constexpr int kEventKinds = 8;

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_EVENT_KIND_H_
