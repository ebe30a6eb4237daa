#ifndef TTL_CLIENT_TTLCTL_TEXT_HOLD_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_HOLD_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_field.h"

namespace ttl {

// The values of a repeated DeleteHold in words: "clock is suspect, rate limit"; "nothing" if it is
// empty. Pure.
std::string HoldsText(const google::protobuf::RepeatedField<int>& holds);

// Whether DELETE_HOLD_HOLDS_IN_DOUBT is one of them, and how it is lifted. Pure.
bool AreHoldsInDoubt(const google::protobuf::RepeatedField<int>& holds);
std::string HoldsInDoubtText(absl::string_view container);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_HOLD_TEXT_H_
