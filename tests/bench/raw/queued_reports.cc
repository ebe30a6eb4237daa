#include "tests/bench/raw/queued_reports.h"

#include <memory>
#include <semaphore>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/base/mutex.h"
#include "service/base/status_macros.h"
#include "service/storage/storage.h"
#include "tests/bench/speed/item_names.h"
#include "tests/bench/speed/window_meter.h"

namespace ttl::bench {
namespace {

constexpr char kQueuedContainer[] = "bench/queued";
constexpr int64_t kQueuedTs = 1'800'000'000;

absl::StatusOr<ContainerPtr> ContainerIn(Storage& storage, bool has_feed) {
  if (ContainerPtr container = storage.containers().Find(kQueuedContainer)) return container;
  ContainerSettings settings;
  settings.policy.default_ttl = 86'400;
  if (has_feed) settings.feed.emplace();
  return Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    storage.containers().Create(kQueuedContainer, settings, absl::FromUnixSeconds(kQueuedTs),
                                std::move(done));
  });
}

// Reports that are under way, a bounded number of them.
class Reports {
 public:
  Reports(Storage& storage, uint64_t container, int in_flight)
      : storage_(storage), container_(container), in_flight_(in_flight), free_(in_flight) {}
  ~Reports() {
    for (int i = 0; i < in_flight_; ++i) free_.acquire();
  }

  // Waits until there is room for one more.
  void Send(uint64_t item) {
    free_.acquire();
    std::vector<ItemReport> report(1);
    report[0].key = {PartitionKeyOf(item), IdOf(item)};
    report[0].version.times.ts = kQueuedTs;
    storage_.items().Track(container_, std::move(report), AdoptionTerms(), [this](auto outcomes) {
      if (!outcomes.ok()) Note(outcomes.status());
      free_.release();
    });
  }

  absl::Status status() const {
    MutexLock lock(mutex_);
    return status_;
  }

 private:
  void Note(const absl::Status& status) {
    MutexLock lock(mutex_);
    status_.Update(status);
  }

  Storage& storage_;
  const uint64_t container_;
  const int in_flight_;
  std::counting_semaphore<> free_;
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<Sample> ReportThroughQueue(const std::string& directory, const QueuedReports& work,
                                          const Window& window) {
  StorageOptions options;
  options.directory = directory;
  TTL_ASSIGN_OR_RETURN(const auto storage, Storage::Open(options));
  // Nothing is expired by then.
  const absl::Time now = absl::FromUnixSeconds(kQueuedTs);
  storage->feed().SetClock([now] { return FeedMoment{now, now}; });
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container, ContainerIn(*storage, work.has_feed));
  Reports reports(*storage, container->number, work.in_flight);
  if (work.items > 0) {
    for (uint64_t i = 0; i < work.items; ++i) reports.Send(Scattered(work.first + i));
    return Sample{};
  }
  WindowMeter meter(window, 0);
  uint64_t sequence = work.first;
  do {
    reports.Send(Scattered(sequence++));
  } while (meter.Count(1));
  TTL_RETURN_IF_ERROR(reports.status());
  return meter.Result();
}

}  // namespace ttl::bench
