#include "service/server/metrics/sidecar_metrics.h"

#include <prometheus/text_serializer.h>

#include "service/base/stopwatch.h"
#include "service/log/log.h"
#include "service/server/metrics/call_metrics.h"
#include "service/server/metrics/metric_catalog.h"
#include "service/server/metrics/process_metrics.h"
#include "service/server/metrics/reconciliation_metrics.h"
#include "service/server/metrics/storage_metrics.h"

namespace ttl {

void SidecarMetrics::Attach(const Sources& sources) {
  const MutexLock lock(mutex_);
  sources_.emplace(sources);
}

void SidecarMetrics::Detach() {
  const MutexLock lock(mutex_);
  sources_.reset();
}

std::vector<prometheus::MetricFamily> SidecarMetrics::Collect() const {
  MetricSheet sheet;
  const Stopwatch stopwatch;
  const MutexLock lock(mutex_);
  if (sources_.has_value()) AddSources(sheet);
  sheet.Set(metric::kReady, sources_.has_value() && sources_->is_ready());
  sheet.Set(metric::kBuildInfo, 1.0, {version_});
  sheet.Set(metric::kScrapes, ++scrapes_);
  sheet.Set(metric::kScrapeDuration, last_seconds_);
  sheet.Set(metric::kLogLinesLost, Log::LostLines());
  AddProcessMetrics(sheet);
  last_seconds_ = static_cast<double>(stopwatch.Nanoseconds()) * 1e-9;
  return sheet.Take();
}

void SidecarMetrics::AddSources(MetricSheet& sheet) const {
  sources_->expiry.Add(sheet);
  sources_->feed.Add(sheet);
  AddReconciliationMetrics(sources_->data_trust.in_doubt(), sources_->reconciliations.View(),
                           sheet);
  AddCallMetrics(sources_->calls, sheet);
  AddCheckMetrics(sources_->checks, sheet);
  AddAccessMetrics(sources_->access, sheet);
  AddConnectionMetrics(sheet);
  sheet.Set(metric::kWritable, sources_->storage.WriteHealth().ok());
  sheet.Set(metric::kDamagedRecords, static_cast<int64_t>(sources_->storage.Problems().size()));
  AddStorageMetrics(sources_->storage.Figures(), sheet);
}

std::string SidecarMetrics::Text() const {
  return prometheus::TextSerializer().Serialize(Collect());
}

}  // namespace ttl
