#ifndef TTL_SERVICE_SERVER_METRICS_RECONCILIATION_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_RECONCILIATION_METRICS_H_

#include <optional>

#include "service/core/state/reconciliation.h"
#include "service/server/metrics/metric_sheet.h"

namespace ttl {

// Adds whether the data is in doubt, and the progress of the current or last reconciliation or
// rebuild; absent if there was none since the start.
void AddReconciliationMetrics(bool data_in_doubt, const std::optional<Reconciliation>& last,
                              MetricSheet& sheet);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_RECONCILIATION_METRICS_H_
