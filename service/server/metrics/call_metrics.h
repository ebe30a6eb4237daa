#ifndef TTL_SERVICE_SERVER_METRICS_CALL_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_CALL_METRICS_H_

#include "service/rpc/checks/check_counters.h"
#include "service/server/metrics/metric_sheet.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/calls/call_counters.h"

namespace ttl {

// Adds calls by method and code. Codes other than OK that never occurred are omitted, and so are
// durations before the first call.
void AddCallMetrics(const CallCounters& counters, MetricSheet& sheet);

// Adds the verdicts of visibility checks.
void AddCheckMetrics(const CheckCounters& counters, MetricSheet& sheet);

// Adds calls refused because the caller lacked a role.
void AddAccessMetrics(const AccessCounters& counters, MetricSheet& sheet);

// Adds connections closed because their clients exceeded a limit.
void AddConnectionMetrics(MetricSheet& sheet);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_CALL_METRICS_H_
