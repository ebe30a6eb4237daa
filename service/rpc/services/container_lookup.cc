#include "service/rpc/services/container_lookup.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"

namespace ttl {

absl::StatusOr<ContainerPtr> FindContainer(const Containers& containers, absl::string_view id) {
  ContainerPtr container = containers.Find(id);
  if (container != nullptr) return container;
  return MakeError(Reason::kContainerNotFound,
                   absl::StrCat("container ", Quoted(id, kMaxContainerIdBytes), " does not exist"),
                   {{"container", std::string(id)}});
}

absl::StatusOr<ContainerPtr> FindContainerWithFeed(const Containers& containers,
                                                   absl::string_view id) {
  absl::StatusOr<ContainerPtr> container = FindContainer(containers, id);
  if (!container.ok() || (*container)->settings.feed.has_value()) return container;
  return MakeError(Reason::kFeedOff,
                   absl::StrCat("container ", Quoted(id, kMaxContainerIdBytes),
                                " has no feed: set container.feed"),
                   {{"container", std::string(id)}});
}

absl::StatusOr<SubscriptionView> FindSubscription(const Feed& feed, absl::string_view container_id,
                                                  absl::string_view name) {
  std::optional<SubscriptionView> found = feed.Find(container_id, name);
  if (found.has_value()) return *std::move(found);
  return NoSuchSubscription(container_id, name);
}

absl::Status NoSuchSubscription(absl::string_view container_id, absl::string_view name) {
  return MakeError(Reason::kSubscriptionNotFound,
                   absl::StrCat("container ", Quoted(container_id, kMaxContainerIdBytes),
                                " has no subscription ", Quoted(name, kMaxSubscriptionNameBytes),
                                ": create it, or correct the name"),
                   {{"container", std::string(container_id)}, {"subscription", std::string(name)}});
}

absl::Status LogReplaced(const std::vector<std::string>& container_ids) {
  const bool is_one = container_ids.size() == 1;
  return MakeError(
      Reason::kLogReplaced,
      absl::StrCat("the events of ", is_one ? "container " : "at least one of the containers",
                   is_one ? Quoted(container_ids[0], kMaxContainerIdBytes) : "",
                   " are of another log: compare with the store, then watch without a "
                   "token, or acknowledge with the epoch of the subscription"),
      {{"container", is_one ? container_ids[0] : ""}});
}

}  // namespace ttl
