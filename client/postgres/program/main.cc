#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "client/postgres/program/command.h"
#include "client/postgres/program/ttl_postgres.h"
#include "service/log/log.h"
#include "service/process/thread_check.h"

namespace {

// Threads that must be startable: log, signals, capture and its queries, policies, load, readiness,
// metrics, connections, usage, a check of a changed configuration, and a few that serve calls. More
// of the last kind are started only while that succeeds.
constexpr int kThreads = 25;

}  // namespace

int main(int argc, char** argv) {
  const ttl::postgres::Output output = {std::cout, std::cerr};
  if (const absl::Status threads = ttl::CheckThreads(kThreads); !threads.ok()) {
    return static_cast<int>(ttl::postgres::Fail(output, threads));
  }
  // A log line overwrites the progress bar that a scan may have drawn (capture/scan_display.h).
  const ttl::Log log(spdlog::level::info, isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "");
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(
      ttl::postgres::RunTtlPostgres(arguments, output, [] { return absl::Now(); }));
}
