#ifndef TTL_CLIENT_CPP_SERVICE_CONFIG_H_
#define TTL_CLIENT_CPP_SERVICE_CONFIG_H_

#include <string>

namespace ttl {

// gRPC service config of channels whose users make their calls by themselves, without a
// TtlClient: which methods gRPC repeats, after which errors, how often and how soon.
//
// - Reads (checks, look-ups, lists, status): after UNAVAILABLE.
// - TrackItems, UntrackItems: after RESOURCE_EXHAUSTED, which the sidecar
//   answers before anything is applied. Not after UNAVAILABLE: the first may have
//   been applied, and a repeated report without a sequence could overrule a later
//   one of the same second.
// - Changes of containers, pauses, limits, confirmations, the clock: never. They
//   are rare, an operator stands behind them, and repeating one could undo
//   somebody else's.
// - Reports of usage: never. The next one, a second later, says what is left.
//
// At most 4 attempts inside the deadline of the call; the server's push-back
// (grpc-retry-pushback-ms) is honoured; while most calls fail, none are
// repeated.
std::string ServiceConfigJson();

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_SERVICE_CONFIG_H_
