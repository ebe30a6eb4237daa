#ifndef TTL_SERVICE_SERVER_GRPC_SERVICES_H_
#define TTL_SERVICE_SERVER_GRPC_SERVICES_H_

#include <memory>
#include <string>
#include <vector>

#include "service/rpc/checks/check_counters.h"
#include "service/rpc/services/container_service.h"
#include "service/rpc/services/expiry_service.h"
#include "service/rpc/services/feed_service.h"
#include "service/rpc/services/hold_service.h"
#include "service/rpc/services/item_calls.h"
#include "service/rpc/services/item_service.h"
#include "service/rpc/services/maintenance_service.h"
#include "service/rpc/status/feed_view.h"
#include "service/rpc/status/overdue_watch.h"
#include "service/rpc/status/sent_marks.h"
#include "service/server/config/config.h"
#include "service/server/data.h"
#include "service/server/deleting.h"
#include "service/server/page/status_page.h"
#include "service/transport/calls/rpc_service.h"
#include "service/transport/health_service.h"

namespace ttl {

// The gRPC services of a sidecar, connected to the stages that they work on. Thread-safe.
class GrpcServices {
 public:
  // All must outlive this.
  GrpcServices(const ServerConfig& config, Data& data, Deleting& deleting);
  GrpcServices(const GrpcServices&) = delete;
  GrpcServices& operator=(const GrpcServices&) = delete;

  HealthService& health() { return health_; }
  std::vector<RpcService*> all_but_health();

  const CheckCounters& check_counters() const { return check_counters_; }
  OverdueWatch& overdue() { return overdue_; }
  const ExpiryView::Parts& view_parts() const { return view_parts_; }
  const FeedView& feed_view() const { return feed_view_; }

  // What the status page reads.
  StatusPage::Calls page_calls() const;

 private:
  ExpiryService::Parts ExpiryParts();
  ExpiryServiceOptions ExpiryOptions();
  // The troubles of single containers, one sentence each.
  std::vector<std::string> Troubles() const;
  MaintenanceService::Parts MaintenanceParts();

  const ServerConfig& config_;
  Data& data_;
  Deleting& deleting_;
  const ExpiryView::Parts view_parts_;
  SentMarks sent_;
  const FeedView feed_view_;
  OverdueWatch overdue_;
  CheckCounters check_counters_;
  ContainerService container_;
  ItemCalls item_calls_;
  ItemService item_;
  FeedService feed_;
  ExpiryService expiry_;
  HoldService hold_;
  MaintenanceService maintenance_;
  HealthService health_;
  std::vector<std::unique_ptr<RpcService>> reflections_;  // empty: not served
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_GRPC_SERVICES_H_
