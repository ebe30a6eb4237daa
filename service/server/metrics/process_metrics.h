#ifndef TTL_SERVICE_SERVER_METRICS_PROCESS_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_PROCESS_METRICS_H_

#include "service/server/metrics/metric_sheet.h"

namespace ttl {

// What the system says of this process, under the names that all of Prometheus's
// libraries use. What it does not say is left out.
void AddProcessMetrics(MetricSheet& sheet);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_PROCESS_METRICS_H_
