#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/open_loop.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/bench/speed/statistics.h"
#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"

namespace ttl::bench {
namespace {

// The p99 of a window is that of its ten slowest checks.
constexpr int kTimesAsManyRounds = 2;

// A sidecar that is asked at a fixed rate on its Unix socket, while a process floods its health
// port with one kind of frames, or burns as much processor time as that one did.
class AskedWhileFlooded {
 public:
  explicit AskedWhileFlooded(const char* kind) : kind_(kind) {}

  absl::Status Start() {
    TTL_RETURN_IF_ERROR(sidecar_.Start());
    return LoadItems(sidecar_.channel(), kItems);
  }

  // Microseconds, as the row has it.
  absl::StatusOr<Sample> MeasureFlooded(const Window& window) {
    TTL_ASSIGN_OR_RETURN(
        const auto flooder,
        Subprocess::Start({{FLOODER_BINARY, "--port", HealthPort(), "--kind", kind_}, {}, ""}));
    const auto begin = std::chrono::steady_clock::now();
    TTL_ASSIGN_OR_RETURN(OpenLoopResult result, Check(window));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    flood_cores_.push_back(CpuTime(flooder->pid()) / seconds);
    return Take(result, flooded_);
  }

  absl::StatusOr<Sample> MeasureBusy(const Window& window) {
    const double cores = flood_cores_.empty() ? 1 : std::min(flood_cores_.back(), kMaxBurntCores);
    TTL_ASSIGN_OR_RETURN(
        const auto burner,
        Subprocess::Start({{BURNER_BINARY, "--cores", absl::StrCat(cores)}, {}, ""}));
    TTL_ASSIGN_OR_RETURN(OpenLoopResult result, Check(window));
    return Take(result, busy_);
  }

  // Over all rounds, beside the figures of single ones.
  std::string Note() {
    const double flooded = Percentile(flooded_, 0.99);
    const double busy = Percentile(busy_, 0.99);
    return absl::StrFormat(
        "the flood kept %.2f cores busy; over all rounds p99 %.0f us of %d checks with it, %.0f us "
        "of %d without, ratio %.2f",
        SpreadOf(flood_cores_).median, flooded, flooded_.size(), busy, busy_.size(),
        busy > 0 ? flooded / busy : 0);
  }

 private:
  static constexpr uint64_t kItems = 20'000;
  static constexpr double kChecksPerSecond = 1000;
  static constexpr double kMaxBurntCores = 2;

  std::string HealthPort() { return absl::StrCat(sidecar_.TcpPorts().at(0)); }

  absl::StatusOr<OpenLoopResult> Check(const Window& window) {
    return CheckAtRate(ServerOf(sidecar_), kItems, kChecksPerSecond, window);
  }

  static Sample Take(OpenLoopResult& result, std::vector<double>& all) {
    all.insert(all.end(), result.latencies.begin(), result.latencies.end());
    return {Percentile(result.latencies, 0.99), result.generator_cores, result.server_cores};
  }

  const std::string kind_;
  const TempDir directory_;
  SidecarProcess sidecar_{SidecarIn(directory_.path(), {"--health-tcp", "127.0.0.1:0"})};
  std::vector<double> flood_cores_;
  std::vector<double> flooded_;
  std::vector<double> busy_;
};

absl::StatusOr<Row> CheckBesideFlood(const char* kind, const RowOptions& options) {
  AskedWhileFlooded asked(kind);
  TTL_RETURN_IF_ERROR(asked.Start());
  Contest contest;
  contest.name = absl::StrCat("check-flooded ", kind);
  contest.work = absl::StrCat("p99 of CheckVisibility, 1 key, 1,000 calls/s, beside a flood of ",
                              kind, " frames");
  contest.unit = "us";
  contest.ours = [&](const Window& window) { return asked.MeasureFlooded(window); };
  contest.opponents = {{"no flood, as busy a machine",
                        [&](const Window& window) { return asked.MeasureBusy(window); },
                        Target{Target::Kind::kAtMost, 2}}};
  Rounds rounds = options.rounds;
  rounds.count *= kTimesAsManyRounds;
  TTL_ASSIGN_OR_RETURN(Row row, Hold(contest, rounds));
  row.note = absl::StrCat(asked.Note(), "; ", row.note);
  return row;
}

}  // namespace

absl::StatusOr<std::vector<Row>> CheckWhileFlooded(const RowOptions& options) {
  std::vector<Row> rows;
  for (const char* kind :
       {"window-update", "settings", "ping-ack", "unknown", "empty-data", "goaway"}) {
    TTL_ASSIGN_OR_RETURN(rows.emplace_back(), CheckBesideFlood(kind, options));
  }
  return rows;
}

}  // namespace ttl::bench
