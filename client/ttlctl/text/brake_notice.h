#ifndef TTL_CLIENT_TTLCTL_TEXT_BRAKE_NOTICE_H_
#define TTL_CLIENT_TTLCTL_TEXT_BRAKE_NOTICE_H_

#include <string>

#include "client/ttlctl/commands/session.h"
#include "ttl/v1/container.pb.h"

namespace ttl {

// A line about the brake if the last change of `container` has pulled it. Empty otherwise, and if
// the output is for programs.
std::string BrakeNotice(Session& session, const v1::Container& container);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_BRAKE_NOTICE_H_
