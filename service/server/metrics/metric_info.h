#ifndef TTL_SERVICE_SERVER_METRICS_METRIC_INFO_H_
#define TTL_SERVICE_SERVER_METRICS_METRIC_INFO_H_

#include <prometheus/metric_type.h>

namespace ttl {

// What is said of a metric to those who read it.
struct MetricInfo {
  const char* name;
  prometheus::MetricType type;
  const char* labels;  // their names, with a comma between; empty: none
  const char* help;    // what it is, and how to read it
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_METRIC_INFO_H_
