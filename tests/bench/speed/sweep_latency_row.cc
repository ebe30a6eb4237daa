#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/open_loop.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/bench/speed/statistics.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/expiry_service.grpc.pb.h"

namespace ttl::bench {
namespace {

constexpr uint64_t kHotItems = 20'000;
constexpr double kChecksPerSecond = 2000;
constexpr double kDeletesPerSecond = 20'000;
constexpr int kSweptContainers = 4;
constexpr double kMaxBurntCores = 2;

absl::Status ToStatus(const grpc::Status& status, const char* doing) {
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(doing, ": ", status.error_message()));
}

// Enough for all rounds and the time between them, and for some seconds in which we stall while
// the sidecar does not.
uint64_t ItemsToSweep(const Rounds& rounds) {
  const std::chrono::duration<double> window = rounds.window.warm_up + rounds.window.length;
  const double seconds = (window.count() + 0.5) * rounds.count + 5;
  return static_cast<uint64_t>(kDeletesPerSecond * seconds);
}

std::string SpreadText(const std::vector<double>& values) {
  const Spread spread = SpreadOf(values);
  return absl::StrFormat("%.0f-%.0f-%.0f", spread.min, spread.median, spread.max);
}

// A sidecar that is asked at a fixed rate, and sweeps when told to.
class AskedWhileSweeping {
 public:
  absl::Status Start(const Rounds& rounds) {
    TTL_RETURN_IF_ERROR(store_.Start());
    sidecar_ = std::make_unique<SidecarProcess>(WithStore());
    TTL_RETURN_IF_ERROR(sidecar_->Start());
    expiry_ = v1::ExpiryService::NewStub(sidecar_->channel());
    TTL_RETURN_IF_ERROR(LoadItems(sidecar_->channel(), kHotItems));
    // A tenth of what is asked for is expired, and has to stay.
    TTL_RETURN_IF_ERROR(PauseDeletesOf(sidecar_->channel(), kLoadedContainer));
    TTL_RETURN_IF_ERROR(LoadExpired(ItemsToSweep(rounds)));
    TTL_ASSIGN_OR_RETURN(const OpenLoopResult unswept, Check(rounds.window));
    unswept_cores_ = unswept.server_cores;
    return absl::OkStatus();
  }

  // Microseconds, as the row has it.
  absl::StatusOr<Sample> MeasureSwept(const Window& window) {
    TTL_RETURN_IF_ERROR(BeginSweep());
    TTL_ASSIGN_OR_RETURN(const int64_t before, CountTrackedItems(sidecar_->channel()));
    const auto begin = std::chrono::steady_clock::now();
    const auto store_begin = CpuTime(store_.process()->pid());
    TTL_ASSIGN_OR_RETURN(OpenLoopResult result, Check(window));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    TTL_ASSIGN_OR_RETURN(const int64_t after, CountTrackedItems(sidecar_->channel()));
    TTL_RETURN_IF_ERROR(SetMaxDeletes(0));
    if (after <= static_cast<int64_t>(kHotItems)) {
      return absl::InternalError("the sweep was over before the checks were");
    }
    swept_per_second_.push_back(static_cast<double>(before - after) / seconds.count());
    result.server_cores += (CpuTime(store_.process()->pid()) - store_begin) / seconds;
    sweep_cores_.push_back(std::max(0.0, result.server_cores - unswept_cores_));
    return ToSample(result, swept_p50_);
  }

  // On a machine that is as busy as it was during the last sweep.
  absl::StatusOr<Sample> MeasureBusy(const Window& window) {
    const double cores = std::min(sweep_cores_.back(), kMaxBurntCores);
    TTL_ASSIGN_OR_RETURN(
        const auto burner,
        Subprocess::Start({{BURNER_BINARY, "--cores", absl::StrCat(cores)}, {}, ""}));
    TTL_ASSIGN_OR_RETURN(OpenLoopResult result, Check(window));
    return ToSample(result, busy_p50_);
  }

  std::string Note() const {
    return absl::StrCat("swept ", SpreadText(swept_per_second_), " items/s, which kept ",
                        absl::StrFormat("%.2f", SpreadOf(sweep_cores_).median), " cores busy; p50 ",
                        SpreadText(swept_p50_), " us with the sweep, ", SpreadText(busy_p50_),
                        " us on the busy machine");
  }

 private:
  SidecarProcessOptions WithStore() const {
    SidecarProcessOptions options = SidecarIn(directory_.path(), {"--max-deletes-per-second", "0"});
    options.store_address = store_.address();
    return options;
  }

  absl::Status LoadExpired(uint64_t items) {
    for (int i = 0; i < kSweptContainers; ++i) {
      const std::string id = absl::StrCat("bench/sweep-", i);
      TTL_RETURN_IF_ERROR(CreateContainer(sidecar_->channel(), id, /*default_ttl=*/60));
      TTL_RETURN_IF_ERROR(LoadInheriting(
          sidecar_->channel(),
          {id, 0, items / kSweptContainers, absl::ToUnixSeconds(absl::Now()) - 3600}));
    }
    return absl::OkStatus();
  }

  absl::Status SetMaxDeletes(double per_second) {
    grpc::ClientContext context;
    v1::SetMaxDeletesPerSecondRequest request;
    request.set_max_deletes_per_second(per_second);
    v1::SetMaxDeletesPerSecondResponse response;
    return ToStatus(expiry_->SetMaxDeletesPerSecond(&context, request, &response),
                    "setting the limit");
  }

  // Waits until items go.
  absl::Status BeginSweep() {
    TTL_ASSIGN_OR_RETURN(const int64_t tracked, CountTrackedItems(sidecar_->channel()));
    TTL_RETURN_IF_ERROR(SetMaxDeletes(kDeletesPerSecond));
    return AwaitTrackedItems(sidecar_->channel(), tracked - 1, absl::Seconds(30));
  }

  absl::StatusOr<OpenLoopResult> Check(const Window& window) {
    return CheckAtRate(ServerOf(*sidecar_), kHotItems, kChecksPerSecond, window);
  }

  static Sample ToSample(OpenLoopResult& result, std::vector<double>& p50) {
    p50.push_back(Percentile(result.latencies, 0.5));
    return {Percentile(result.latencies, 0.99), result.generator_cores, result.server_cores};
  }

  const TempDir directory_;
  StoreStubProcess store_{directory_.path()};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<v1::ExpiryService::Stub> expiry_;
  double unswept_cores_ = 0;
  std::vector<double> swept_per_second_;
  std::vector<double> sweep_cores_;
  std::vector<double> swept_p50_;
  std::vector<double> busy_p50_;
};

}  // namespace

absl::StatusOr<Row> CheckWhileSweeping(const RowOptions& options) {
  AskedWhileSweeping asked;
  TTL_RETURN_IF_ERROR(asked.Start(options.rounds));
  Contest contest;
  contest.name = "check-sweeping";
  contest.work = "p99 of CheckVisibility, 1 key, 2,000 calls/s, while 20,000 items/s are swept";
  contest.unit = "us";
  contest.ours = [&](const Window& window) { return asked.MeasureSwept(window); };
  contest.opponents = {{"no sweep, as busy a machine",
                        [&](const Window& window) { return asked.MeasureBusy(window); },
                        Target{Target::Kind::kAtMost, 2}}};
  TTL_ASSIGN_OR_RETURN(Row row, Hold(contest, options.rounds));
  row.note = absl::StrCat(asked.Note(), "; ", row.note);
  return row;
}

}  // namespace ttl::bench
