#ifndef TTL_SERVICE_SERVER_METRICS_EXPIRY_METRICS_H_
#define TTL_SERVICE_SERVER_METRICS_EXPIRY_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/usage_meter.h"
#include "service/rpc/status/expiry_view.h"
#include "service/rpc/status/overdue_watch.h"
#include "service/server/metrics/metric_sheet.h"
#include "service/storage/storage.h"

namespace ttl {

// Metrics of deletes, of the containers that the published names and of all others summed up, and
// of the store and the clock. Thread-safe.
class ExpiryMetrics {
 public:
  // All must outlive this. `start_steady`: the steady time at which the process started.
  struct Parts {
    Storage& storage;
    PublishedSweep& published;
    const ExpiryView& view;
    absl::Duration start_steady;
    const OverdueWatch& overdue;
  };

  // Maximum number of unnamed containers whose index is read for the oldest due item: those that
  // may have it.
  static constexpr size_t kMaxLooks = 32;

  // Items that will expire within the next hour, day and week.
  using ExpiringItems = std::array<int64_t, 3>;

  explicit ExpiryMetrics(const Parts& parts) : parts_(parts) {}

  void Add(MetricSheet& sheet) const;

 private:
  void AddContainers(const ExpiryView::Snapshot& snapshot, MetricSheet& sheet) const;
  void AddNamed(const ExpiryView::Snapshot& snapshot, const Container& container,
                const Tallies::Figures& tally, std::optional<int64_t> oldest_due_time,
                const ExpiringItems& expiring, MetricSheet& sheet) const;

  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_EXPIRY_METRICS_H_
