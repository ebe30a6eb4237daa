#ifndef TTL_CLIENT_TTLCTL_TEXT_HOLD_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_HOLD_TEXT_H_

#include <string>

#include "google/protobuf/repeated_field.h"

namespace ttl {

// What holds deletes back, in words, given the values of a repeated DeleteHold:
// "clock is suspect, rate limit". "nothing" if the list is empty.
std::string HoldsText(const google::protobuf::RepeatedField<int>& holds);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_HOLD_TEXT_H_
