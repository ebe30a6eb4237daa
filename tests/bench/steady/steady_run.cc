#include "tests/bench/steady/steady_run.h"

#include <grpcpp/client_context.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/item_names.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/open_loop.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/bench/speed/statistics.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

using std::chrono::steady_clock;

constexpr char kReported[] = "bench/steady";
constexpr int kBatch = 100;

absl::Status ToStatus(const grpc::Status& status, const char* doing) {
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(doing, ": ", status.error_message()));
}

double ToMib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// Reports new items at a fixed rate. For one thread.
class SteadyReporter {
 public:
  SteadyReporter(const std::shared_ptr<grpc::Channel>& channel, double items_per_second)
      : stub_(v1::ItemService::NewStub(channel)),
        interval_(std::chrono::duration_cast<steady_clock::duration>(
            std::chrono::duration<double>(kBatch / items_per_second))) {
    request_.set_container(kReported);
    for (int i = 0; i < kBatch; ++i) request_.add_items();
  }

  // For so long. Returns the latencies in microseconds.
  absl::StatusOr<std::vector<double>> Report(std::chrono::milliseconds length) {
    std::vector<double> latencies;
    const auto begin = steady_clock::now();
    for (auto due = begin; due < begin + length; due += interval_) {
      std::this_thread::sleep_until(due);
      TTL_RETURN_IF_ERROR(ReportOnce());
      const std::chrono::duration<double, std::micro> latency = steady_clock::now() - due;
      latencies.push_back(latency.count());
    }
    return latencies;
  }

 private:
  absl::Status ReportOnce() {
    const int64_t now = absl::ToUnixSeconds(absl::Now());
    for (v1::Item& item : *request_.mutable_items()) {
      const uint64_t number = Scattered(sequence_++);
      item.set_partition_key(PartitionKeyOf(number));
      item.set_id(IdOf(number));
      item.set_ts(now);
    }
    grpc::ClientContext context;
    v1::TrackItemsResponse response;
    TTL_RETURN_IF_ERROR(ToStatus(stub_->TrackItems(&context, request_, &response), "reporting"));
    if (IsTracked(response, kBatch)) return absl::OkStatus();
    return absl::InternalError("a new item was not tracked");
  }

  const std::unique_ptr<v1::ItemService::Stub> stub_;
  const steady_clock::duration interval_;
  v1::TrackItemsRequest request_;
  uint64_t sequence_ = 0;
};

class SteadyRun {
 public:
  explicit SteadyRun(const SteadyPlan& plan) : plan_(plan) {}

  absl::Status Start() {
    TTL_RETURN_IF_ERROR(Load());
    TTL_RETURN_IF_ERROR(store_.Start());
    SidecarProcessOptions options = SidecarIn(directory_.path());
    options.store_address = store_.address();
    sidecar_ = std::make_unique<SidecarProcess>(options);
    TTL_RETURN_IF_ERROR(sidecar_->Start());
    reporter_ = std::make_unique<SteadyReporter>(sidecar_->channel(), plan_.reports_per_second);
    return absl::OkStatus();
  }

  absl::StatusOr<SteadyPeriod> Measure() {
    auto reported = std::async(std::launch::async, [&] { return reporter_->Report(plan_.period); });
    absl::StatusOr<OpenLoopResult> checked =
        CheckAtRate(ServerOf(*sidecar_), plan_.loaded, plan_.checks_per_second,
                    {std::chrono::milliseconds(0), plan_.period});
    absl::StatusOr<std::vector<double>> reports = reported.get();
    TTL_RETURN_IF_ERROR(checked.status());
    TTL_RETURN_IF_ERROR(reports.status());
    SteadyPeriod period;
    period.check_p50 = Percentile(checked->latencies, 0.5);
    period.check_p99 = Percentile(checked->latencies, 0.99);
    period.check_max = Percentile(checked->latencies, 1);
    period.report_p50 = Percentile(*reports, 0.5);
    period.report_p99 = Percentile(*reports, 0.99);
    period.report_max = Percentile(*reports, 1);
    period.server_cores = checked->server_cores;
    period.disk_mib = ToMib(DirectoryBytes(sidecar_->data_dir()));
    period.memory_mib = ToMib(AnonymousBytes(sidecar_->process()->pid()));
    TTL_ASSIGN_OR_RETURN(const int64_t deleted, CountDeletedItems(sidecar_->channel(), kReported));
    period.deleted = deleted - deleted_before_;
    deleted_before_ = deleted;
    return period;
  }

 private:
  // Without a store: a tenth of what is asked for is expired, and has to stay.
  absl::Status Load() const {
    SidecarProcess sidecar(SidecarIn(directory_.path()));
    TTL_RETURN_IF_ERROR(sidecar.Start());
    TTL_RETURN_IF_ERROR(LoadItems(sidecar.channel(), plan_.loaded));
    TTL_RETURN_IF_ERROR(PauseDeletesOf(sidecar.channel(), kLoadedContainer));
    TTL_RETURN_IF_ERROR(CreateContainer(sidecar.channel(), kReported, plan_.ttl_seconds));
    return sidecar.Stop();
  }

  const SteadyPlan plan_;
  const TempDir directory_;
  StoreStubProcess store_{directory_.path()};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<SteadyReporter> reporter_;
  int64_t deleted_before_ = 0;
};

}  // namespace

absl::Status RunSteadily(const SteadyPlan& plan,
                         const std::function<void(const SteadyPeriod&)>& on_period) {
  SteadyRun run(plan);
  TTL_RETURN_IF_ERROR(run.Start());
  for (auto passed = std::chrono::milliseconds(0); passed < plan.length; passed += plan.period) {
    TTL_ASSIGN_OR_RETURN(const SteadyPeriod period, run.Measure());
    on_period(period);
  }
  return absl::OkStatus();
}

}  // namespace ttl::bench
