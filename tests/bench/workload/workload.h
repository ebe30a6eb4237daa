#ifndef TTL_TESTS_BENCH_WORKLOAD_WORKLOAD_H_
#define TTL_TESTS_BENCH_WORKLOAD_WORKLOAD_H_

#include <grpcpp/channel.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/bench/workload/container_plan.h"
#include "tests/bench/workload/tally.h"
#include "tests/bench/workload/worker.h"
#include "tests/bench/workload/workload_options.h"

namespace ttl::workload {

// What the store must and does hold.
struct StoreCount {
  // Documents that lie in the store.
  int64_t stored = 0;
  // Documents live by the oracles, just before and just after that was asked.
  int64_t live_before = 0;
  int64_t live_after = 0;

  // Neither more nor less than the live ones.
  bool IsExact() const { return stored <= live_before && stored >= live_after; }
  // Fewer than the live ones: a live document is gone.
  bool HasLost() const { return stored < live_after; }
};

// A whole run against a document store: make the containers, load, operate,
// verify. Load and Run use one thread per worker.
//
// The methods are called one after the other by one thread at a time.
class Workload {
 public:
  Workload(const WorkloadOptions& options, const std::shared_ptr<grpc::Channel>& store);

  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  // Creates the containers in the sidecar behind `sidecar`. AlreadyExists if
  // one of them exists: its history would not be known.
  absl::Status CreateContainers(const std::shared_ptr<grpc::Channel>& sidecar) const;

  // Writes every document once, unless `stop` becomes true.
  void Load(const std::atomic<bool>& stop);

  // Runs the mixed operations until `stop` becomes true, `duration` has passed
  // or `operations` are done; InfiniteDuration and INT64_MAX do not limit.
  void Run(absl::Duration duration, int64_t operations, const std::atomic<bool>& stop);

  // Waits until the store holds exactly the live documents of every container.
  // DeadlineExceeded if it holds more for too long, DataLoss as soon as it holds
  // fewer.
  absl::Status AwaitExactStore(absl::Duration deadline) const;

  // Reads all that the store shows, bodies included, and compares it with the
  // oracles; differences are counted as mismatches.
  absl::Status CompareContents();

  // Counts of one container, given by its place in plans().
  absl::StatusOr<StoreCount> Count(size_t container) const;

  const std::vector<ContainerPlan>& plans() const { return plans_; }
  int64_t CountLive(absl::Time at) const;
  int64_t planned_documents() const;

  // What has been done and seen so far.
  Tally Total() const;

 private:
  void RunInThreads(const std::function<void(Worker&)>& body);
  int64_t CountLive(size_t container, absl::Time at) const;
  absl::Status CompareContainer(size_t container);
  // `shown` notes, by worker and number, which documents have been seen.
  void CompareShown(size_t container, const documentstore::v1::Document& document,
                    absl::Time judged_at, std::vector<std::vector<bool>>& shown);
  void CompareHidden(size_t container, const std::vector<std::vector<bool>>& shown,
                     absl::Time received);

  const WorkloadOptions options_;
  const std::vector<ContainerPlan> plans_;
  const std::unique_ptr<documentstore::v1::DocumentService::Stub> stub_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Tally own_tally_;
};

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_WORKLOAD_H_
