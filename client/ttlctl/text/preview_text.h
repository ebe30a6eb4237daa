#ifndef TTL_CLIENT_TTLCTL_TEXT_PREVIEW_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_PREVIEW_TEXT_H_

#include <string>

#include "ttl/v1/container.pb.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

// The effect of an UpdateContainer, from its response with validate_only. Pure.
std::string PreviewText(const v1::UpdateContainerResponse& response);

// The effect of creating `container` on the store's items. Pure.
std::string PreviewText(const v1::Container& container,
                        const v1::PreviewContainerResponse& preview);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_PREVIEW_TEXT_H_
