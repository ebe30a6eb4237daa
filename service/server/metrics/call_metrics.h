#ifndef TTL_SERVICE_SERVER_METRICS_CALL_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_CALL_METRICS_H_

#include "service/rpc/checks/check_counters.h"
#include "service/server/metrics/metric_sheet.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/calls/call_counters.h"

namespace ttl {

// Calls by method and code. Of a method, codes that never came are left out, but for OK,
// and so are durations before the first call.
void AddCallMetrics(const CallCounters& counters, MetricSheet& sheet);

// What visibility checks were answered.
void AddCheckMetrics(const CheckCounters& counters, MetricSheet& sheet);

// Calls refused for want of a role.
void AddAccessMetrics(const AccessCounters& counters, MetricSheet& sheet);

// Connections that were closed for what their clients did.
void AddConnectionMetrics(MetricSheet& sheet);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_CALL_METRICS_H_
