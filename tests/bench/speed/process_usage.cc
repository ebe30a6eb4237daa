#include "tests/bench/speed/process_usage.h"

#include <time.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/wait.h"

namespace ttl::bench {

std::chrono::nanoseconds CpuTime(pid_t pid) {
  clockid_t clock;
  timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

void AwaitQuiet(pid_t pid) {
  constexpr absl::Duration kLook = absl::Milliseconds(300);
  constexpr auto kQuiet = std::chrono::milliseconds(10);  // of kLook
  std::chrono::nanoseconds before = CpuTime(pid);
  bool is_first = true;
  WaitUntil(
      [&] {
        const std::chrono::nanoseconds used = CpuTime(pid) - std::exchange(before, CpuTime(pid));
        return !std::exchange(is_first, false) && used < kQuiet;
      },
      absl::Minutes(1), kLook);
}

int64_t AnonymousBytes(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string word;
  while (status >> word) {
    if (word != "RssAnon:") continue;
    int64_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes << 10;
  }
  return 0;
}

int64_t DirectoryBytes(const std::string& path) {
  int64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const uintmax_t size = entry.file_size(error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

}  // namespace ttl::bench
