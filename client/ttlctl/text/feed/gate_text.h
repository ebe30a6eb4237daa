#ifndef TTL_CLIENT_TTLCTL_TEXT_FEED_GATE_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_FEED_GATE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "ttl/v1/feed.pb.h"

// Human-readable text of gates: subscriptions that items wait for. Pure functions.
namespace ttl {

// "archive, audit".
std::string SubscriptionNames(const google::protobuf::RepeatedPtrField<std::string>& names);

// The command that shows how far the subscriptions of a container are.
std::string SubscriptionsCommand(absl::string_view container);

// What deletes wait for, and how long: "each item waits until it has acknowledged the item's
// expiry". REQUIRES: it is a gate.
std::string GateText(const v1::Subscription& subscription);

// For a table: "-", "yes", or how long items wait, "7d".
std::string BriefGate(const v1::Subscription& subscription);

// Whether items that it has not acknowledged no longer wait for it, and up to which.
bool IsGivenUp(const v1::Subscription& subscription);
std::string NoLongerWaitText(uint64_t given_up_sequence);

// Whether items of a container wait for gates, or its log is full because of one.
bool HasGateTrouble(const v1::FeedStatus& feed);

// What waits, and for whom. REQUIRES: HasGateTrouble().
std::string GateTroubleText(absl::string_view container, const v1::FeedStatus& feed);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_FEED_GATE_TEXT_H_
