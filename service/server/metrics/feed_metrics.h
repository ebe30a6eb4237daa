#ifndef TTL_SERVICE_SERVER_METRICS_FEED_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_FEED_METRICS_H_

#include "service/core/guarded_clock.h"
#include "service/core/state/published_sweep.h"
#include "service/rpc/status/feed_view.h"
#include "service/server/metrics/metric_sheet.h"
#include "service/storage/containers.h"

namespace ttl {

// Metrics of the feeds and their subscriptions, of the containers that the published names and of
// all others together. Thread-safe.
class FeedMetrics {
 public:
  // All must outlive this.
  struct Parts {
    const Containers& containers;
    PublishedSweep& published;
    const FeedView& feeds;
    const GuardedClock& clock;
  };

  explicit FeedMetrics(const Parts& parts) : parts_(parts) {}

  // Reads the front of what is not acknowledged from disk, for each subscription.
  void Add(MetricSheet& sheet) const;

 private:
  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_FEED_METRICS_H_
