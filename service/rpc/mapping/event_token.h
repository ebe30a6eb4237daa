#ifndef TTL_SERVICE_RPC_MAPPING_EVENT_TOKEN_H_
#define TTL_SERVICE_RPC_MAPPING_EVENT_TOKEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Tokens of WatchEvents. A token says up to which event a client has received the events of a set
// of containers, and of which log they were. Pure functions; their values never change, since
// clients keep tokens.
namespace ttl {

// A decoded token.
struct EventToken {
  uint64_t containers = 0;  // HashOfContainers() of those watched
  uint64_t epoch = 0;       // CombinedEpoch() of their logs
  uint64_t sequence = 0;    // of the last event received

  friend bool operator==(const EventToken&, const EventToken&) = default;
};

// Of the ids, in any order.
uint64_t HashOfContainers(std::vector<std::string> ids);

// The identity of the logs of several containers, from those of each (Feed::EpochOf), in any order.
// That of one container is its own.
uint64_t CombinedEpoch(std::vector<uint64_t> epochs);

std::string EncodeEventToken(const EventToken& token);

// INVALID_ARGUMENT, naming the field `field`, if `token` is not one of ours.
absl::StatusOr<EventToken> DecodeEventToken(absl::string_view field, absl::string_view token);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_EVENT_TOKEN_H_
