#ifndef TTL_SERVICE_SERVER_CALL_METRICS_H_
#define TTL_SERVICE_SERVER_CALL_METRICS_H_

#include "service/rpc/access_counters.h"
#include "service/rpc/call_counters.h"
#include "service/rpc/check_counters.h"
#include "service/server/metric_sheet.h"

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

#endif  // TTL_SERVICE_SERVER_CALL_METRICS_H_
