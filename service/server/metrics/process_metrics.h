#ifndef TTL_SERVICE_SERVER_METRICS_PROCESS_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_PROCESS_METRICS_H_

#include "service/server/metrics/metric_sheet.h"

namespace ttl {

// Adds the standard process_* metrics of Prometheus client libraries. Values that the system does
// not give are omitted.
void AddProcessMetrics(MetricSheet& sheet);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_PROCESS_METRICS_H_
