// Whether the sidecar stalls under a load that does not change. See tests/bench/README.md.
//
//   steady_bench [--seconds 600] [--checks-per-second N] [--reports-per-second N]
//
// Prints a line for each ten seconds.
#include <grpc/grpc.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "tests/bench/steady/steady_run.h"

namespace {

void Print(const ttl::bench::SteadyPeriod& period) {
  absl::PrintF("| %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %d | %.0f | %.0f | %.2f |\n",
               period.check_p50, period.check_p99, period.check_max, period.report_p50,
               period.report_p99, period.report_max, period.deleted, period.disk_mib,
               period.memory_mib, period.server_cores);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits ten
  // seconds for a poller.
  grpc_init();
  ttl::bench::SteadyPlan plan;
  int64_t seconds = plan.length.count();
  CLI::App app("The sidecar under a load that does not change");
  app.option_defaults()->always_capture_default();
  app.add_option("--seconds", seconds, "How long")->check(CLI::PositiveNumber);
  app.add_option("--checks-per-second", plan.checks_per_second, "Of one key each")
      ->check(CLI::PositiveNumber);
  app.add_option("--reports-per-second", plan.reports_per_second, "New items, durably")
      ->check(CLI::PositiveNumber);
  app.add_option("--ttl", plan.ttl_seconds, "Seconds until what is reported is to be deleted")
      ->check(CLI::PositiveNumber);
  app.add_option("--loaded", plan.loaded, "Items that are asked for")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  plan.length = std::chrono::seconds(seconds);
  absl::PrintF(
      "| check p50, us | p99 | max | report p50, us | p99 | max | deleted | disk, MiB | memory, "
      "MiB | cores |\n|%s\n",
      " ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
  const absl::Status status = ttl::bench::RunSteadily(plan, Print);
  if (status.ok()) return 0;
  absl::FPrintF(stderr, "error: %s\n", status.ToString());
  return 1;
}
