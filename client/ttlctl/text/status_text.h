#ifndef TTL_CLIENT_TTLCTL_TEXT_STATUS_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_STATUS_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// Text of statuses for operators. Ages are computed by the sidecar's clock, not ours. Pure
// functions.

std::string ClockText(const v1::ClockStatus& clock);

// "reason" (since ...)
std::string PauseText(const v1::PauseState& pause);

// The status of the sidecar, a line per part: health, clock, store, storage, limit, pause, sweep.
std::string SidecarText(const v1::SidecarStatus& sidecar, absl::string_view address);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_STATUS_TEXT_H_
