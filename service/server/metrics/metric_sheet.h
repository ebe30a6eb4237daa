#ifndef TTL_SERVICE_SERVER_METRICS_METRIC_SHEET_H_
#define TTL_SERVICE_SERVER_METRICS_METRIC_SHEET_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "service/base/distribution.h"
#include "service/core/state/lateness_histogram.h"
#include "service/server/metrics/metric_info.h"

namespace ttl {

// Collects the values of metrics for one scrape. Not thread-safe.
class MetricSheet {
 public:
  // Values of the labels, in the order of MetricInfo::labels.
  using LabelValues = std::vector<std::string>;

  void Set(const MetricInfo& info, double value, const LabelValues& labels = {});
  void Set(const MetricInfo& info, int64_t value, const LabelValues& labels = {}) {
    Set(info, static_cast<double>(value), labels);
  }
  void Set(const MetricInfo& info, bool value, const LabelValues& labels = {}) {
    Set(info, value ? 1.0 : 0.0, labels);
  }

  // Converts nanoseconds to seconds.
  void SetDurations(const MetricInfo& info, const DurationDistribution& durations,
                    const LabelValues& labels = {});
  void SetLateness(const MetricInfo& info, const LatenessHistogram& lateness,
                   const LabelValues& labels = {});

  // `counts` has one element per upper bound, and one for values above all bounds.
  void SetHistogram(const MetricInfo& info, absl::Span<const double> bounds,
                    absl::Span<const int64_t> counts, double sum, const LabelValues& labels = {});

  // Returns all metrics, in the order in which they were first set.
  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  prometheus::ClientMetric& Add(const MetricInfo& info, const LabelValues& labels);

  std::vector<prometheus::MetricFamily> families_;
  absl::flat_hash_map<const MetricInfo*, size_t> positions_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_METRIC_SHEET_H_
