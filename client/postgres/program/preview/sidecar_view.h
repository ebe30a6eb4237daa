#ifndef TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_SIDECAR_VIEW_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_SIDECAR_VIEW_H_

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ttl/v1/container.pb.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl::postgres {

// How fast rows of a container are deleted at most.
struct DeleteLimit {
  std::optional<double> per_second;  // absent: no limit
  std::string from;                  // where the limit, or that there is none, is known from
};

// What a sidecar said of its containers and limits, if it answered. Immutable, and so thread-safe.
class SidecarView {
 public:
  // Asks the sidecar at `address`, for a few seconds at most. One that does not answer is no error.
  static SidecarView Read(const std::string& address);

  // Whether the container is known to have a default_ttl, so that its TTL is on.
  bool IsOn(absl::string_view container) const;
  DeleteLimit LimitOf(absl::string_view container) const;

 private:
  std::string address_;
  std::string problem_;  // why there is nothing below; empty: all of it is there
  v1::SidecarStatus sidecar_;
  std::map<std::string, v1::Container, std::less<>> containers_;
  std::map<std::string, v1::ContainerExpiryStatus, std::less<>> statuses_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_SIDECAR_VIEW_H_
