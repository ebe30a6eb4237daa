#ifndef TTL_SERVICE_SERVER_METRICS_METRIC_INFO_H_
#define TTL_SERVICE_SERVER_METRICS_METRIC_INFO_H_

#include <prometheus/metric_type.h>

namespace ttl {

// The description of a metric.
struct MetricInfo {
  const char* name;
  prometheus::MetricType type;
  const char* labels;  // names separated by commas; empty: none
  const char* help;    // meaning, and how to read it
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_METRIC_INFO_H_
