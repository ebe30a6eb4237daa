#ifndef TTL_CLIENT_TTLCTL_PREVIEW_TEXT_H_
#define TTL_CLIENT_TTLCTL_PREVIEW_TEXT_H_

#include <string>

#include "ttl/v1/container_service.pb.h"

namespace ttl {

// What an UpdateContainer with validate_only would do, in words. Pure.
std::string PreviewText(const v1::UpdateContainerResponse& response);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_PREVIEW_TEXT_H_
