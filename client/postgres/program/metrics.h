#ifndef TTL_CLIENT_POSTGRES_PROGRAM_METRICS_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_METRICS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/postgres/capture/capture_status.h"
#include "client/postgres/load/load_monitor.h"
#include "client/postgres/policy/policy_mirror.h"
#include "client/postgres/program/table_watch.h"
#include "client/postgres/store/store_counters.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Sources of the metrics. Called at each scrape, by the thread that answers it.
struct MetricSources {
  std::vector<std::string> containers;
  std::vector<std::string> left_out;  // containers whose tables cannot be followed
  std::function<bool()> is_ready;
  std::function<CaptureStatus()> capture;
  std::function<LoadState()> load;
  std::function<PolicyMirror::State()> mirror;
  std::function<WatchedState()> watch;
  std::function<const StoreCounters*(absl::string_view container)> store;
  // WAL bytes beyond which the slot is dropped; 0: never.
  int64_t max_slot_bytes = 0;
  WallClock clock;
};

// The metrics of ttl-postgres for Prometheus. The help texts document each name, unit and meaning.
// Thread-safe.
class Metrics {
 public:
  explicit Metrics(MetricSources sources) : sources_(std::move(sources)) {}

  // In Prometheus's text format.
  std::string Text() const;

 private:
  MetricSources sources_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_METRICS_H_
