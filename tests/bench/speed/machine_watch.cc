#include "tests/bench/speed/machine_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

// The kernel counts the time of a process that has ended for its parent, once the parent has waited
// for it. So the time of a tree of processes never goes back: what a child has used is first found
// in its own file and then in that of its parent.
//
// The kernel works for the benchmark too: loopback connections in interrupts, syncs in threads of
// its own. Neither says for whom, so both are left out: others that keep the kernel busy also use
// time of their own. The time of a thread of the kernel that ends is lost.
namespace ttl::bench {
namespace {

constexpr double kMaxOthers = 0.1;     // of the cores
constexpr double kMaxStolen = 0.05;    // of the cores
constexpr double kMaxDisturbed = 0.1;  // of the seconds
constexpr absl::Duration kLeastBetween = absl::Milliseconds(200);
constexpr uint64_t kIsOfKernel = 0x00200000;  // PF_KTHREAD of the kernel

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The sum of some fields; absent if one of them is missing or not a number.
std::optional<absl::Duration> SumOf(const std::vector<absl::string_view>& fields,
                                    const std::vector<size_t>& which, absl::Duration tick) {
  int64_t ticks = 0;
  for (const size_t i : which) {
    int64_t value = 0;
    if (i >= fields.size() || !absl::SimpleAtoi(fields[i], &value)) return std::nullopt;
    ticks += value;
  }
  return ticks * tick;
}

std::vector<ProcessTime> AllProcesses(absl::Duration tick) {
  std::vector<ProcessTime> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    const auto process = ParseProcessTime(ReadFile(entry.path() / "stat"), tick);
    if (process.has_value()) processes.push_back(*process);
  }
  return processes;
}

// Absent if /proc/stat cannot be read.
std::optional<MachineLook> LookNow() {
  const absl::Duration tick = absl::Seconds(1) / sysconf(_SC_CLK_TCK);
  const std::vector<ProcessTime> processes = AllProcesses(tick);
  const auto machine = ParseMachineTime(ReadFile("/proc/stat"), tick);
  if (!machine.has_value()) return std::nullopt;
  MachineLook look;
  look.time = absl::Now();
  look.machine = *machine;
  look.ours = TimeOfTree(getpid(), processes);
  for (const ProcessTime& process : processes) {
    if (process.of_kernel) look.kernel_threads[process.pid] = process.used;
  }
  return look;
}

absl::Duration KernelTimeBetween(const MachineLook& before, const MachineLook& after) {
  absl::Duration used;
  for (const auto& [thread, time] : after.kernel_threads) {
    const auto known = before.kernel_threads.find(thread);
    used += known == before.kernel_threads.end() ? time : time - known->second;
  }
  return used;
}

}  // namespace

std::optional<MachineTime> ParseMachineTime(absl::string_view proc_stat, absl::Duration tick) {
  const absl::string_view line = proc_stat.substr(0, proc_stat.find('\n'));
  const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (fields.empty() || fields[0] != "cpu") return std::nullopt;
  // user, nice, system, then idle and iowait, irq, softirq, steal: proc(5).
  const auto busy = SumOf(fields, {1, 2, 3}, tick);
  const auto stolen = SumOf(fields, {8}, tick);
  if (!busy.has_value() || !stolen.has_value()) return std::nullopt;
  return MachineTime{*busy, *stolen};
}

std::optional<ProcessTime> ParseProcessTime(absl::string_view stat, absl::Duration tick) {
  // The name of the program, in parentheses, may contain spaces and parentheses.
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos) return std::nullopt;
  ProcessTime process;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
  // From the state on: ppid is the second, flags the 7th; utime, stime, cutime and cstime are the
  // 12th to 15th.
  const auto used = SumOf(fields, {11, 12, 13, 14}, tick);
  if (!absl::SimpleAtoi(stat.substr(0, stat.find(' ')), &process.pid) || fields.size() < 2 ||
      !absl::SimpleAtoi(fields[1], &process.parent) || !used.has_value()) {
    return std::nullopt;
  }
  uint64_t flags = 0;
  if (!absl::SimpleAtoi(fields[6], &flags)) return std::nullopt;
  process.of_kernel = (flags & kIsOfKernel) != 0;
  process.used = *used;
  return process;
}

absl::Duration TimeOfTree(int root, const std::vector<ProcessTime>& processes) {
  absl::flat_hash_map<int, std::vector<const ProcessTime*>> children;
  absl::Duration used;
  for (const ProcessTime& process : processes) {
    children[process.parent].push_back(&process);
    if (process.pid == root) used = process.used;
  }
  std::vector<int> open = {root};
  while (!open.empty()) {
    const int parent = open.back();
    open.pop_back();
    for (const ProcessTime* child : children[parent]) {
      used += child->used;
      open.push_back(child->pid);
    }
  }
  return used;
}

std::optional<LostCores> LostBetween(const MachineLook& before, const MachineLook& after) {
  const absl::Duration passed = after.time - before.time;
  if (passed < kLeastBetween) return std::nullopt;
  const absl::Duration others = (after.machine.busy - before.machine.busy) -
                                (after.ours - before.ours) - KernelTimeBetween(before, after);
  const absl::Duration stolen = after.machine.stolen - before.machine.stolen;
  return LostCores{.others = std::max(0.0, absl::FDivDuration(others, passed)),
                   .stolen = absl::FDivDuration(stolen, passed)};
}

std::string Disturbance(const std::vector<LostCores>& seconds, int cores) {
  if (seconds.empty()) return "no verdict: it is not known who used the processors";
  size_t disturbed = 0;
  LostCores most;
  for (const LostCores& lost : seconds) {
    if (lost.others > kMaxOthers * cores || lost.stolen > kMaxStolen * cores) ++disturbed;
    most.others = std::max(most.others, lost.others);
    most.stolen = std::max(most.stolen, lost.stolen);
  }
  if (static_cast<double>(disturbed) <= kMaxDisturbed * static_cast<double>(seconds.size())) {
    return "";
  }
  return absl::StrFormat(
      "no verdict: in %d of %d seconds other processes used up to %.2f of %d cores, other virtual "
      "machines up to %.2f",
      disturbed, seconds.size(), most.others, cores, most.stolen);
}

MachineWatch::MachineWatch() : thread_([this] { Watch(); }) {}

MachineWatch::~MachineWatch() {
  if (thread_.joinable()) Finish();
}

std::string MachineWatch::Finish() {
  finished_.Notify();
  thread_.join();
  return Disturbance(seconds_, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

void MachineWatch::Watch() {
  std::optional<MachineLook> before = LookNow();
  bool is_over = false;
  while (!is_over) {
    is_over = finished_.WaitForNotificationWithTimeout(absl::Seconds(1));
    const std::optional<MachineLook> after = LookNow();
    const bool both = before.has_value() && after.has_value();
    if (const auto lost = both ? LostBetween(*before, *after) : std::nullopt) {
      seconds_.push_back(*lost);
    }
    before = after;
  }
}

}  // namespace ttl::bench
