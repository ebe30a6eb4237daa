#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/rows.h"
#include "tests/testing/temp_dir.h"

namespace ttl::bench {

absl::StatusOr<Row> EchoApis(const RowOptions& options) {
  constexpr LoadShape kShape{.batch = 1, .in_flight = 64};
  constexpr uint64_t kItems = 20'000;
  const TempDir directory;
  EchoProcess by_queue(directory.path(), "async");
  EchoProcess by_callbacks(directory.path(), "callback");
  EchoProcess by_threads(directory.path(), "sync");
  TTL_RETURN_IF_ERROR(by_queue.Start());
  TTL_RETURN_IF_ERROR(by_callbacks.Start());
  TTL_RETURN_IF_ERROR(by_threads.Start());
  Contest contest;
  contest.name = "echo-apis";
  contest.work = "bare echo of CheckVisibility, 1 key, 64 in flight: completion queue";
  contest.unit = "calls/s";
  contest.ours = CheckLoad(ServerOf(by_queue), kShape, kItems);
  contest.opponents = {
      {"callback API", CheckLoad(ServerOf(by_callbacks), kShape, kItems), std::nullopt},
      {"synchronous API", CheckLoad(ServerOf(by_threads), kShape, kItems), std::nullopt}};
  return Hold(contest, options.rounds);
}

}  // namespace ttl::bench
