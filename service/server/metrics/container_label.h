#ifndef TTL_SERVICE_SERVER_METRICS_CONTAINER_LABEL_H_
#define TTL_SERVICE_SERVER_METRICS_CONTAINER_LABEL_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "service/core/container.h"

namespace ttl {

// The label of all containers that have no label of their own (PublishedSweep::Breakdown).
inline constexpr absl::string_view kOtherContainers = "other";

// The label of a container: its id, escaped if it looks like the label of the others.
inline std::string ContainerLabel(const Container& container) {
  const absl::string_view rest = absl::StripPrefix(container.id, kOtherContainers);
  const bool looks_like_others =
      rest.size() < container.id.size() && rest.find_first_not_of('_') == absl::string_view::npos;
  return looks_like_others ? absl::StrCat(container.id, "_") : container.id;
}

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_CONTAINER_LABEL_H_
