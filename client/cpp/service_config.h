#ifndef TTL_CLIENT_CPP_SERVICE_CONFIG_H_
#define TTL_CLIENT_CPP_SERVICE_CONFIG_H_

#include <string>

namespace ttl {

// The gRPC service config with the retry policy of channels that are used without a TtlClient.
//
// - Reads (checks, look-ups, lists, status), and Acknowledge, which never goes back: after
//   UNAVAILABLE.
// - PlaceHold: after UNAVAILABLE. The second finds the hold that the first placed; where it has
//   been released in between it stands again, which deletes nothing.
// - TrackItems, UntrackItems: after RESOURCE_EXHAUSTED, which the sidecar answers before anything
//   is applied. Not after UNAVAILABLE: the first attempt may have been applied, and a retried
//   report without a sequence could override a later one of the same second.
// - TouchItems: after both. The countdown starts a moment later.
// - Changes of containers and subscriptions, pauses, limits, confirmations, the clock, ReleaseHold,
//   AcceptHolds: never. They are rare, an operator can repeat them, and a retry could undo another
//   operator's change, release a hold that was placed anew, or accept the holds of data that
//   replaced those the operator saw.
// - Reports of usage: never. The next report, a second later, includes what is missing.
//
// At most 4 attempts inside the deadline of the call; the server's push-back
// (grpc-retry-pushback-ms) is honoured; while most calls fail, none are retried.
std::string ServiceConfigJson();

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_SERVICE_CONFIG_H_
