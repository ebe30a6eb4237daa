#ifndef TTL_CLIENT_POSTGRES_LOAD_LOAD_MONITOR_H_
#define TTL_CLIENT_POSTGRES_LOAD_LOAD_MONITOR_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/load/load_judge.h"
#include "client/postgres/load/usage_meter.h"
#include "client/postgres/sql/connect/connection_pool.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// What the monitor knows, for metrics.
struct LoadState {
  absl::Duration latency;       // of a trivial query, median of the last samples
  int64_t active_backends = 0;  // other than our own, median too
  bool yielding = false;
  int64_t samples = 0;
  int64_t failed_samples = 0;
  // Of the last sample; empty: it went well. Backends that are hidden from us are one.
  std::string last_error;
};

// Watches, by a thread and a connection of its own, how busy the database is, and what
// others do to the tables. Rows read, inserted, updated or deleted, as the statistics of
// PostgreSQL count them, are request units: one each. Thread-safe.
class LoadMonitor {
 public:
  struct Parts {
    // Takes what was used of a container: TtlClient::AddUsage. Also called with 0, since silence
    // counts as full use.
    std::function<void(absl::string_view container, double request_units)> add_usage;
    // Rows of a container's table that our own deletes have touched since the start. They are
    // not the application's, and the sidecar knows their cost from the answers.
    std::function<int64_t(absl::string_view container)> own_rows;
    absl::Duration interval = absl::Seconds(1);
  };

  // Starts at once.
  LoadMonitor(const Config& config, const std::vector<TableDefinition>& tables, Parts parts);
  ~LoadMonitor();

  LoadMonitor(const LoadMonitor&) = delete;
  LoadMonitor& operator=(const LoadMonitor&) = delete;

  // For how long deletes are to leave the database alone; absent: they need not.
  std::optional<absl::Duration> YieldFor() const;

  LoadState state() const;

 private:
  struct Watched {
    std::string container;
    uint32_t table_oid;
    UsageMeter meter;
    absl::Duration read;  // by the steady clock
  };

  struct Activity {
    LoadSample sample;
    bool is_partly_hidden = false;  // there are backends whose state we may not see
  };

  void Run();
  absl::Status TakeSample();
  absl::StatusOr<Activity> AskActivity(Connection& connection);
  absl::Status AskUsage(Connection& connection);

  const Parts parts_;
  const bool counts_backends_;
  std::vector<Watched> tables_;  // of the thread alone
  ConnectionPool pool_;

  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  // All guarded by mutex_.
  bool stop_ = false;
  LoadJudge judge_;
  int64_t samples_ = 0;
  int64_t failed_samples_ = 0;
  std::string last_error_;

  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_LOAD_LOAD_MONITOR_H_
