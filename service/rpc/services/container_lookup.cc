#include "service/rpc/services/container_lookup.h"

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

}  // namespace ttl
