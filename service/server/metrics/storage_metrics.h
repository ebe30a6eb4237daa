#ifndef TTL_SERVICE_SERVER_METRICS_STORAGE_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_STORAGE_METRICS_H_

#include "service/server/metrics/metric_sheet.h"
#include "service/storage/engine/storage_figures.h"

namespace ttl {

// Adds the metrics of storage: commits, the queue, the disk, LevelDB and the cache.
void AddStorageMetrics(const StorageFigures& figures, MetricSheet& sheet);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_STORAGE_METRICS_H_
