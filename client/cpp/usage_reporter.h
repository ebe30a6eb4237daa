#ifndef TTL_CLIENT_CPP_USAGE_REPORTER_H_
#define TTL_CLIENT_CPP_USAGE_REPORTER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// Adds up what requests use of each container's throughput and reports it at regular
// intervals, from the first use on also when nothing was used, since silence counts as
// full use. What could not be reported is kept for the next report. A container that
// the sidecar does not know, or whose report it refuses, is dropped until it is used
// again. Its thread starts with the first use. Thread-safe.
class UsageReporter {
 public:
  // Containers kept apart; the usage of further ones is not reported.
  static constexpr size_t kMaxContainers = 10'000;

  // Reports once. Called by one thread, and must return within a bounded time.
  using Send = std::function<absl::Status(const v1::ReportUsageRequest&)>;

  UsageReporter(std::chrono::nanoseconds interval, Send send);
  // Waits for the report under way. What was used since the last one is dropped.
  ~UsageReporter();
  UsageReporter(const UsageReporter&) = delete;
  UsageReporter& operator=(const UsageReporter&) = delete;

  // Costs a lock and a look-up. Units that are negative or not finite are not counted.
  void Add(absl::string_view container, double request_units);

 private:
  using Instant = std::chrono::steady_clock::time_point;

  struct Usage {
    double units = 0;
    Instant since;  // of the last report that was taken
  };

  void Run();
  void ReportAll();
  bool ReportOne(const std::string& container, const Usage& usage, Instant now);
  absl::flat_hash_map<std::string, Usage> TakeAll(Instant now);
  void PutBack(const std::string& container, const Usage& usage);
  void Drop(const std::string& container);

  const std::chrono::nanoseconds interval_;
  const Send send_;
  const std::string reporter_;  // tells this one apart from others

  std::mutex mutex_;
  std::condition_variable stopped_;
  // All guarded by mutex_.
  bool stop_ = false;
  Instant last_report_;
  absl::flat_hash_map<std::string, Usage> containers_;
  std::thread thread_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_USAGE_REPORTER_H_
