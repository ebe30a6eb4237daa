#ifndef TTL_TESTS_BENCH_SPEED_MACHINE_WATCH_H_
#define TTL_TESTS_BENCH_SPEED_MACHINE_WATCH_H_

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace ttl::bench {

// Processor time that the machine has used since it started.
struct MachineTime {
  absl::Duration busy;    // by all processes; without interrupts, which may serve the benchmark
  absl::Duration stolen;  // by other virtual machines ("steal")
};

// Reads the first line of /proc/stat; absent if it is not that. `tick` is the unit of its numbers.
std::optional<MachineTime> ParseMachineTime(absl::string_view proc_stat, absl::Duration tick);

// A process as /proc/PID/stat shows it.
struct ProcessTime {
  int pid = 0;
  int parent = 0;
  bool of_kernel = false;  // a thread of the kernel
  absl::Duration used;     // by it and by those of its children that have ended
};

// Absent if `stat` is not the content of such a file.
std::optional<ProcessTime> ParseProcessTime(absl::string_view stat, absl::Duration tick);

// Processor time used by `root` and all its descendants among `processes`.
absl::Duration TimeOfTree(int root, const std::vector<ProcessTime>& processes);

// What is known of the machine at one time.
struct MachineLook {
  absl::Time time;
  MachineTime machine;
  absl::Duration ours;                                      // of the benchmark
  absl::flat_hash_map<int, absl::Duration> kernel_threads;  // of each, by its id
};

// Cores that were not at the benchmark's disposal for about a second.
struct LostCores {
  double others = 0;  // used by processes that are not the benchmark's
  double stolen = 0;
};

// Cores lost between two looks; absent if less than 200 ms have passed, for which the ticks of the
// kernel are too coarse. Pure.
std::optional<LostCores> LostBetween(const MachineLook& before, const MachineLook& after);

// Why figures measured meanwhile permit no verdict; empty if they do. A second is disturbed if
// others used more than a tenth of `cores` or more than a twentieth was stolen, and a row if more
// than a tenth of its seconds are, or if there are none. Pure.
std::string Disturbance(const std::vector<LostCores>& seconds, int cores);

// Looks once a second at who uses the processors, on a thread of its own, while it exists. What
// cannot be read is no second.
class MachineWatch {
 public:
  MachineWatch();
  ~MachineWatch();

  // Ends the watch; the result is that of Disturbance(). Call it once.
  std::string Finish();

 private:
  void Watch();

  std::vector<LostCores> seconds_;  // written by the thread, read after it has ended
  absl::Notification finished_;
  std::thread thread_;
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_MACHINE_WATCH_H_
