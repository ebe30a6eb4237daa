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

// Adds up the request units that requests use of each container's throughput, and
// reports them at regular intervals. From the first use on it also reports zero, because
// missing reports count as full use. Usage that could not be reported is added to the next
// report. A container that the sidecar does not know, or whose report it refuses, is
// dropped until it is used again. Its thread starts with the first use. Thread-safe.
class UsageReporter {
 public:
  // Maximum number of containers; the usage of further ones is not reported.
  static constexpr size_t kMaxContainers = 10'000;

  // Reports once. Called by one thread, and must return within a bounded time.
  using Send = std::function<absl::Status(const v1::ReportUsageRequest&)>;

  UsageReporter(std::chrono::nanoseconds interval, Send send);
  // Waits for a report in progress. Usage since the last report is dropped.
  ~UsageReporter();
  UsageReporter(const UsageReporter&) = delete;
  UsageReporter& operator=(const UsageReporter&) = delete;

  // Takes a lock and a look-up. Negative, infinite and NaN units are not counted.
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
  const std::string reporter_;  // unique id of this reporter

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
