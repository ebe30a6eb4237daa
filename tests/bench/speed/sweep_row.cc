#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/testing/temp_dir.h"

namespace ttl::bench {
namespace {

constexpr int kContainers = 4;
constexpr absl::Duration kDeadline = absl::Minutes(30);

// Loads expired items while there is no store to delete them from, starts the sidecar
// again with one that answers at once, and measures from the end of a pause until nothing
// is tracked any more.
class Sweep {
 public:
  explicit Sweep(uint64_t items) : items_(items) {}

  absl::StatusOr<Sample> Measure(const Window& /*window*/) {
    TTL_RETURN_IF_ERROR(Load());
    TTL_RETURN_IF_ERROR(store_.Start());
    SidecarProcess sidecar(WithStore());
    TTL_RETURN_IF_ERROR(sidecar.Start());
    const pid_t pid = sidecar.process()->pid();
    AwaitQuiet(pid);
    const auto cpu_before = CpuTime(pid);
    const auto begin = std::chrono::steady_clock::now();
    TTL_RETURN_IF_ERROR(ResumeAllDeletes(sidecar.channel()));
    TTL_RETURN_IF_ERROR(AwaitEnd(sidecar.channel()));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const std::chrono::duration<double> cpu = CpuTime(pid) - cpu_before;
    // A batch that the store had no time for comes again, perhaps after the last item.
    TTL_RETURN_IF_ERROR(AwaitTrackedItems(sidecar.channel(), 0, absl::Minutes(1)));
    return Sample{static_cast<double>(items_) / seconds.count(), 0, cpu.count() / seconds.count()};
  }

 private:
  static std::string Container(int i) { return absl::StrCat("bench/sweep-", i); }

  // The first item of container `i`; one after the last of the container before.
  uint64_t First(int i) const { return items_ * static_cast<uint64_t>(i) / kContainers; }

  // All items have one `_ts`, so each container is swept in the order of the keys.
  absl::Status AwaitEnd(const std::shared_ptr<grpc::Channel>& channel) const {
    for (int i = 0; i < kContainers; ++i) {
      TTL_RETURN_IF_ERROR(AwaitForgotten(channel, Container(i), First(i + 1) - 1, kDeadline));
    }
    return absl::OkStatus();
  }

  absl::Status Load() {
    SidecarProcess sidecar(SidecarIn(directory_.path()));
    TTL_RETURN_IF_ERROR(sidecar.Start());
    for (int i = 0; i < kContainers; ++i) {
      TTL_RETURN_IF_ERROR(CreateContainer(sidecar.channel(), Container(i), /*default_ttl=*/60));
      const LoadPlan plan{Container(i), First(i), First(i + 1),
                          absl::ToUnixSeconds(absl::Now()) - 3600};
      TTL_RETURN_IF_ERROR(LoadInheriting(sidecar.channel(), plan));
    }
    return sidecar.Stop();
  }

  SidecarProcessOptions WithStore() const {
    SidecarProcessOptions options = SidecarIn(directory_.path(), {"--start-paused"});
    options.store_address = store_.address();
    return options;
  }

  const TempDir directory_;
  const uint64_t items_;
  StoreStubProcess store_{directory_.path()};
};

absl::StatusOr<Sample> MeasureRaw(uint64_t items) {
  const TempDir directory;
  const std::string count = absl::StrCat(items);
  TTL_RETURN_IF_ERROR(RunRawLevelDb(directory.path(), {"load", "--items", count}).status());
  return RunRawLevelDb(directory.path(), {"delete", "--items", count, "--batch", "500"});
}

}  // namespace

absl::StatusOr<Row> SweepAll(const RowOptions& options) {
  const uint64_t items = std::min<uint64_t>(options.items / 10, 1'000'000);
  Contest contest;
  contest.name = "sweep";
  contest.work = absl::StrCat("sweep of ", items, " items in ", kContainers,
                              " containers, store answers at once");
  contest.unit = "items/s";
  contest.ours = [items](const Window& window) { return Sweep(items).Measure(window); };
  contest.opponents = {{"raw LevelDB, scan and synced deletes by 500",
                        [items](const Window&) { return MeasureRaw(items); },
                        Target{Target::Kind::kAtLeast, 0.5}}};
  Rounds rounds = options.rounds;
  rounds.count = std::min(rounds.count, 3);
  return Hold(contest, rounds);
}

}  // namespace ttl::bench
