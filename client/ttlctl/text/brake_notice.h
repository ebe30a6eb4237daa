#ifndef TTL_CLIENT_TTLCTL_TEXT_BRAKE_NOTICE_H_
#define TTL_CLIENT_TTLCTL_TEXT_BRAKE_NOTICE_H_

#include <string>

#include "client/ttlctl/commands/session.h"
#include "ttl/v1/container.pb.h"

namespace ttl {

// A line about the brake if the change just made to `container` has pulled it; else, and
// with --json, nothing.
std::string BrakeNotice(Session& session, const v1::Container& container);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_BRAKE_NOTICE_H_
