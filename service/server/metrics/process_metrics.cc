#include "service/server/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "service/server/metrics/metric_catalog.h"

namespace ttl {
namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Positions of fields in /proc/self/stat after the name in parentheses, which may contain blanks.
// proc(5) numbers fields from 1; these begin at its field 3.
enum StatField {
  kUserTicks = 11,
  kSystemTicks = 12,
  kThreads = 17,
  kStartTicks = 19,
  kVirtualBytes = 20,
  kResidentPages = 21
};

// The fields of /proc/self/stat.
class ProcessStat {
 public:
  ProcessStat() {
    const std::string text = ReadFile("/proc/self/stat");
    const size_t end_of_name = text.rfind(')');
    if (end_of_name == std::string::npos) return;
    for (const absl::string_view word :
         absl::StrSplit(absl::string_view(text).substr(end_of_name + 1), ' ', absl::SkipEmpty())) {
      fields_.emplace_back(word);
    }
  }

  std::optional<double> Get(StatField field) const {
    double value = 0;
    const auto index = static_cast<size_t>(field);
    if (index >= fields_.size() || !absl::SimpleAtod(fields_[index], &value)) return std::nullopt;
    return value;
  }

 private:
  std::vector<std::string> fields_;
};

// Unix seconds.
std::optional<double> BootTime() {
  const std::string text = ReadFile("/proc/stat");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    double value = 0;
    if (absl::StartsWith(line, "btime ") && absl::SimpleAtod(line.substr(6), &value)) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> CountFds() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  int64_t count = 0;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) ++count;
  if (error) return std::nullopt;
  return count - 1;  // without the descriptor of this iteration
}

void AddFds(MetricSheet& sheet) {
  if (const auto count = CountFds()) sheet.Set(metric::kProcessFds, *count);
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    sheet.Set(metric::kProcessMaxFds, static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace

void AddProcessMetrics(MetricSheet& sheet) {
  const ProcessStat stat;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  // Read once: the kernel gives another value after each step of the wall clock.
  static const std::optional<double> boot_time = BootTime();
  const std::optional<double> start = stat.Get(kStartTicks);
  if (boot_time.has_value() && start.has_value()) {
    sheet.Set(metric::kProcessStart, *boot_time + *start * tick);
  }
  const std::optional<double> user = stat.Get(kUserTicks);
  const std::optional<double> system = stat.Get(kSystemTicks);
  if (user.has_value() && system.has_value()) {
    sheet.Set(metric::kProcessCpu, (*user + *system) * tick);
  }
  if (const auto pages = stat.Get(kResidentPages)) {
    sheet.Set(metric::kProcessResident, *pages * page);
  }
  if (const auto bytes = stat.Get(kVirtualBytes)) sheet.Set(metric::kProcessVirtual, *bytes);
  if (const auto threads = stat.Get(kThreads)) sheet.Set(metric::kProcessThreads, *threads);
  AddFds(sheet);
}

}  // namespace ttl
