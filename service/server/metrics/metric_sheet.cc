#include "service/server/metrics/metric_sheet.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

constexpr double kNanosecond = 1e-9;

}  // namespace

prometheus::ClientMetric& MetricSheet::Add(const MetricInfo& info, const LabelValues& labels) {
  const auto [it, is_new] = positions_.try_emplace(&info, families_.size());
  if (is_new) families_.push_back({info.name, info.help, info.type, {}});
  prometheus::ClientMetric& metric = families_[it->second].metric.emplace_back();
  if (labels.empty()) return metric;
  size_t i = 0;
  for (const absl::string_view name : absl::StrSplit(info.labels, ',')) {
    metric.label.push_back({std::string(name), labels.at(i++)});
  }
  return metric;
}

void MetricSheet::Set(const MetricInfo& info, double value, const LabelValues& labels) {
  prometheus::ClientMetric& metric = Add(info, labels);
  (info.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) =
      value;
}

void MetricSheet::SetDurations(const MetricInfo& info, const DurationDistribution& durations,
                               const LabelValues& labels) {
  std::vector<double> bounds;
  bounds.reserve(std::size(kDurationBounds));
  for (const int64_t bound : kDurationBounds) {
    bounds.push_back(static_cast<double>(bound) * kNanosecond);
  }
  SetHistogram(info, bounds, durations.counts, static_cast<double>(durations.sum) * kNanosecond,
               labels);
}

void MetricSheet::SetLateness(const MetricInfo& info, const LatenessHistogram& lateness,
                              const LabelValues& labels) {
  std::vector<double> bounds;
  bounds.reserve(std::size(LatenessHistogram::kUpperBounds));
  for (const absl::Duration bound : LatenessHistogram::kUpperBounds) {
    bounds.push_back(absl::ToDoubleSeconds(bound));
  }
  SetHistogram(info, bounds, lateness.counts, absl::ToDoubleSeconds(lateness.sum), labels);
}

void MetricSheet::SetHistogram(const MetricInfo& info, absl::Span<const double> bounds,
                               absl::Span<const int64_t> counts, double sum,
                               const LabelValues& labels) {
  prometheus::ClientMetric::Histogram& histogram = Add(info, labels).histogram;
  uint64_t count = 0;
  for (size_t i = 0; i < bounds.size(); ++i) {
    count += static_cast<uint64_t>(counts[i]);
    histogram.bucket.push_back({count, bounds[i]});
  }
  histogram.sample_count = count + static_cast<uint64_t>(counts[bounds.size()]);
  histogram.sample_sum = sum;
}

}  // namespace ttl
