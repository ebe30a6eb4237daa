#include "client/postgres/program/preview/sidecar_view.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "ttl/client.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(3);

}  // namespace

SidecarView SidecarView::Read(const std::string& address) {
  TtlClientOptions options;
  options.address = address;
  options.wait_for_sidecar = false;
  options.admin_deadline = kPatience;
  TtlClient client(options);
  SidecarView view;
  view.address_ = address;
  const auto containers = client.containers().List();
  const auto statuses = client.operations().ListExpiryStatuses();
  if (!containers.ok() || !statuses.ok()) {
    view.problem_ =
        std::string(containers.ok() ? statuses.status().message() : containers.status().message());
    return view;
  }
  view.sidecar_ = statuses->sidecar();
  for (const v1::Container& container : *containers) view.containers_[container.id()] = container;
  for (const auto& status : statuses->containers()) view.statuses_[status.container()] = status;
  return view;
}

bool SidecarView::IsOn(absl::string_view container) const {
  const auto found = containers_.find(container);
  return found != containers_.end() && found->second.has_default_ttl();
}

bool SidecarView::ShowsHeld(absl::string_view container) const {
  const auto found = containers_.find(container);
  return found != containers_.end() && found->second.show_held();
}

bool SidecarView::MayBeTouched(absl::string_view container) const {
  const auto found = containers_.find(container);
  if (found == containers_.end()) return false;
  return found->second.allow_touch() || found->second.has_touches();
}

DeleteLimit SidecarView::LimitOf(absl::string_view container) const {
  if (!problem_.empty()) {
    return {std::nullopt, absl::StrCat("assumed, as by default, because the sidecar at ", address_,
                                       " does not answer: ", problem_)};
  }
  DeleteLimit limit = {std::nullopt, "neither the sidecar nor the container sets one"};
  const auto take = [&limit](double per_second, absl::string_view from) {
    if (limit.per_second.has_value() && *limit.per_second <= per_second) return;
    limit = {per_second, std::string(from)};
  };
  const auto found = containers_.find(container);
  const bool exists = found != containers_.end();
  if (exists && found->second.delete_policy().has_max_deletes_per_second()) {
    take(found->second.delete_policy().max_deletes_per_second(),
         "the container's max_deletes_per_second");
  }
  if (sidecar_.has_max_deletes_per_second()) {
    take(sidecar_.max_deletes_per_second(),
         "the sidecar's --max-deletes-per-second, which all containers share");
  }
  const auto status = statuses_.find(container);
  if (status != statuses_.end() && status->second.has_allowed_deletes_per_second()) {
    take(status->second.allowed_deletes_per_second(), "what the sidecar allows the container now");
  }
  if (!exists) absl::StrAppend(&limit.from, "; the container does not exist yet");
  return limit;
}

}  // namespace ttl::postgres
