#include "client/ttlctl/text/brake_notice.h"

#include "client/ttlctl/text/container_status_text.h"
#include "client/ttlctl/text/format.h"
#include "ttl/operator_client.h"

namespace ttl {

std::string BrakeNotice(Session& session, const v1::Container& container) {
  if (session.structured() || !container.delete_policy().has_brake()) return "";
  const auto status = session.client().operations().GetExpiryStatus(container.id());
  if (!status.ok() || !status->container().has_brake()) return "";
  return FormatFields({{"brake", BrakePulledText(container.id(), status->container().brake())}});
}

}  // namespace ttl
