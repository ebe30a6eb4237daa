#ifndef TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_SIDECAR_VIEW_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_SIDECAR_VIEW_H_

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ttl/v1/container.pb.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl::postgres {

// The maximum rate of deletes of a container.
struct DeleteLimit {
  std::optional<double> per_second;  // absent: no limit
  std::string from;                  // source of the limit, or of its absence, for humans
};

// The containers and limits of a sidecar, if it answered. Immutable and thread-safe.
class SidecarView {
 public:
  // Queries the sidecar at `address`, for at most a few seconds. A sidecar that does not answer is
  // not an error.
  static SidecarView Read(const std::string& address);

  // Whether the container is known to have a default_ttl, so that its TTL is on.
  bool IsOn(absl::string_view container) const;
  DeleteLimit LimitOf(absl::string_view container) const;
  // Whether the container is known to show expired items under a hold, which SQL cannot do.
  bool ShowsHeld(absl::string_view container) const;
  // Whether items of the container are known to be touched, or to have been, which SQL cannot see.
  bool MayBeTouched(absl::string_view container) const;

 private:
  std::string address_;
  std::string problem_;  // why the fields below are empty; empty: they are set
  v1::SidecarStatus sidecar_;
  std::map<std::string, v1::Container, std::less<>> containers_;
  std::map<std::string, v1::ContainerExpiryStatus, std::less<>> statuses_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_PREVIEW_SIDECAR_VIEW_H_
