#ifndef TTL_CLIENT_POSTGRES_LOAD_LOAD_MONITOR_H_
#define TTL_CLIENT_POSTGRES_LOAD_LOAD_MONITOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/load/load_judge.h"
#include "client/postgres/load/usage_meter.h"
#include "client/postgres/sql/connect/connection_pool.h"
#include "client/postgres/sql/table_definition.h"
#include "service/base/background_loop.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// State of a LoadMonitor, for metrics.
struct LoadState {
  absl::Duration latency;       // of a trivial query; median of the last samples
  int64_t active_backends = 0;  // excludes our own; also a median
  bool yielding = false;
  int64_t samples = 0;
  int64_t failed_samples = 0;
  // The error of the last sample; empty: it succeeded. Backends whose state is hidden from us count
  // as an error.
  std::string last_error;
};

// LoadMonitor samples, on its own thread and connection, how busy the database is and how other
// sessions use the tables. Each row that they read, insert, update or delete, as PostgreSQL's
// statistics count them, is one request unit. Thread-safe.
class LoadMonitor {
 public:
  struct Parts {
    // Receives the usage of a container: TtlClient::AddUsage. Also called with 0, because the
    // sidecar assumes full use if it receives none.
    std::function<void(absl::string_view container, double request_units)> add_usage;
    // Rows of a container's table that our deletes have touched since the start. They are not the
    // application's usage, and the sidecar learns their cost from the answers.
    std::function<int64_t(absl::string_view container)> own_rows;
    absl::Duration interval = absl::Seconds(1);
  };

  // Starts sampling immediately.
  LoadMonitor(const Config& config, const std::vector<TableDefinition>& tables, Parts parts,
              WallClock clock);
  ~LoadMonitor();

  LoadMonitor(const LoadMonitor&) = delete;
  LoadMonitor& operator=(const LoadMonitor&) = delete;

  // How long deletes must pause; absent: they need not.
  std::optional<absl::Duration> YieldFor() const;

  LoadState state() const;

 private:
  struct Watched {
    std::string container;
    std::vector<uint32_t> oids;  // of its tables
    UsageMeter meter;
    absl::Duration read = absl::ZeroDuration();  // when `meter` was read, by the steady clock
  };

  struct Activity {
    LoadSample sample;
    bool is_partly_hidden = false;  // the state of some backends is hidden from us
  };

  static std::vector<Watched> Watch(const std::vector<TableDefinition>& tables);
  // Takes a sample and notes how it went.
  void Step();
  absl::Status TakeSample();
  absl::StatusOr<Activity> AskActivity(Connection& connection);
  absl::Status AskUsage(Connection& connection);

  const Parts parts_;
  const WallClock clock_;
  const bool counts_backends_;
  std::vector<Watched> tables_;  // used by loop_ only
  ConnectionPool pool_;

  mutable Mutex mutex_;
  LoadJudge judge_ ABSL_GUARDED_BY(mutex_);
  int64_t samples_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t failed_samples_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string last_error_ ABSL_GUARDED_BY(mutex_);

  WakeSignal wake_;
  BackgroundLoop loop_;  // declared last: uses all other members
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_LOAD_LOAD_MONITOR_H_
