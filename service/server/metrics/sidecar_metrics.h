#ifndef TTL_SERVICE_SERVER_METRICS_SIDECAR_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_SIDECAR_METRICS_H_

#include <prometheus/collectable.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"
#include "service/core/state/data_trust.h"
#include "service/core/state/published_reconciliation.h"
#include "service/rpc/checks/check_counters.h"
#include "service/server/metrics/expiry_metrics.h"
#include "service/server/metrics/feed_metrics.h"
#include "service/server/metrics/metric_sheet.h"
#include "service/storage/storage.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/calls/call_counters.h"

namespace ttl {

// All metrics of the sidecar, gathered for each scrape. Counters are kept where events happen;
// nothing here iterates over items. Before Attach() and after Detach(), while the sidecar starts
// and stops, there are only the metrics of the process. Thread-safe.
class SidecarMetrics final : public prometheus::Collectable {
 public:
  // Where the metrics come from.
  struct Sources {
    const Storage& storage;
    const ExpiryMetrics& expiry;
    const FeedMetrics& feed;
    const CallCounters& calls;
    const CheckCounters& checks;
    const AccessCounters& access;
    const DataTrust& data_trust;
    const PublishedReconciliation& reconciliations;
    std::function<bool()> is_ready;
  };

  explicit SidecarMetrics(std::string version) : version_(std::move(version)) {}

  // The sources must live until Detach() or the destructor. To be called once.
  void Attach(const Sources& sources);
  // After it returns the sources are not used any more.
  void Detach();

  std::vector<prometheus::MetricFamily> Collect() const override;
  // The same in Prometheus's text format.
  std::string Text() const;

 private:
  void AddSources(MetricSheet& sheet) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string version_;
  mutable Mutex mutex_;
  std::optional<Sources> sources_ ABSL_GUARDED_BY(mutex_);
  mutable int64_t scrapes_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable double last_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_SIDECAR_METRICS_H_
