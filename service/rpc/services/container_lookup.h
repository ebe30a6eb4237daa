#ifndef TTL_SERVICE_RPC_SERVICES_CONTAINER_LOOKUP_H_
#define TTL_SERVICE_RPC_SERVICES_CONTAINER_LOOKUP_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/container.h"
#include "service/storage/containers.h"
#include "service/storage/feed.h"

namespace ttl {

// The container with that id; NOT_FOUND, naming it, if it does not exist.
absl::StatusOr<ContainerPtr> FindContainer(const Containers& containers, absl::string_view id);

// The same; FAILED_PRECONDITION if it has no feed.
absl::StatusOr<ContainerPtr> FindContainerWithFeed(const Containers& containers,
                                                   absl::string_view id);

// The subscription of that container; NOT_FOUND if there is none of that name.
absl::StatusOr<SubscriptionView> FindSubscription(const Feed& feed, absl::string_view container_id,
                                                  absl::string_view name);

// NOT_FOUND: there is no such subscription.
absl::Status NoSuchSubscription(absl::string_view container_id, absl::string_view name);

// OUT_OF_RANGE: a token or an epoch is not of the present logs of these containers.
absl::Status LogReplaced(const std::vector<std::string>& container_ids);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_CONTAINER_LOOKUP_H_
