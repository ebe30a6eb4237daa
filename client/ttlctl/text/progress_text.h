#ifndef TTL_CLIENT_TTLCTL_TEXT_PROGRESS_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_PROGRESS_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// About how many records the sidecar has stored: one for each tracked item, and one more for its
// entry in the expiry index, if its container has one. Items that never expire have no entry, so
// there may be fewer. Pure.
int64_t ExpectedRecords(const v1::ListExpiryStatusesResponse& statuses);

// How far work has come that has done `done` of about `total` steps in `elapsed`: "40 % of about
// 3,000,000, 2m 30s left". Without the time left in the first second; empty if `total` is unknown
// (0) or wrong, because more is done. Pure.
std::string ShareText(int64_t done, int64_t total, absl::Duration elapsed);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_PROGRESS_TEXT_H_
