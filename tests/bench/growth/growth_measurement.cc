#include "tests/bench/growth/growth_measurement.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/bench/speed/statistics.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

using std::chrono::steady_clock;
using Channel = std::shared_ptr<grpc::Channel>;

constexpr int kLoaders = 4;
constexpr uint64_t kLoadBatch = 1000;
constexpr int kUncountedChecks = 2'000;
constexpr int kCountedChecks = 20'000;
constexpr absl::Duration kStartDeadline = absl::Minutes(10);
constexpr absl::Duration kSweepDeadline = absl::Hours(1);

double SecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

double ToMib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

absl::Status ToStatus(const grpc::Status& status, const char* what) {
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": ", status.error_message()));
}

// Reports batch after batch, until others and it have reported all.
absl::Status LoadSome(const Channel& channel, uint64_t items, std::atomic<uint64_t>& next) {
  const auto stub = v1::ItemService::NewStub(channel);
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  while (true) {
    const uint64_t first = next.fetch_add(kLoadBatch);
    if (first >= items) return absl::OkStatus();
    const v1::TrackItemsRequest request =
        LoadRequest(first, std::min(first + kLoadBatch, items), now);
    grpc::ClientContext context;
    v1::TrackItemsResponse response;
    TTL_RETURN_IF_ERROR(ToStatus(stub->TrackItems(&context, request, &response), "loading"));
    if (!IsTracked(response, request.items_size())) {
      return absl::InternalError("loading: an item was not tracked");
    }
  }
}

absl::Status Load(const Channel& channel, GrowthPoint& point) {
  TTL_RETURN_IF_ERROR(LoadItems(channel, 0));
  std::atomic<uint64_t> next = 0;
  std::vector<std::future<absl::Status>> loaders;
  const auto begin = steady_clock::now();
  for (int i = 0; i < kLoaders; ++i) {
    loaders.push_back(
        std::async(std::launch::async, [&] { return LoadSome(channel, point.items, next); }));
  }
  absl::Status status;
  for (auto& loader : loaders) status.Update(loader.get());
  point.loaded_per_second = static_cast<double>(point.items) / SecondsSince(begin);
  return status;
}

// In microseconds, of checks of one key that are made one after the other.
absl::StatusOr<std::vector<double>> CheckLatencies(const Channel& channel, uint64_t items,
                                                   int count) {
  const auto stub = v1::ItemService::NewStub(channel);
  DrawnChecks source(items, /*keys=*/1, /*slots=*/1);
  v1::CheckVisibilityResponse response;
  std::vector<double> latencies;
  for (int i = 0; i < count; ++i) {
    const PreparedCheck& check = source.Next(0);
    grpc::ClientContext context;
    const auto begin = steady_clock::now();
    const grpc::Status status = stub->CheckVisibility(&context, check.message.request(), &response);
    latencies.push_back(SecondsSince(begin) * 1e6);
    TTL_RETURN_IF_ERROR(ToStatus(status, "checking"));
    if (!IsRight(response, check)) {
      return absl::InternalError(
          absl::StrCat("checking: a wrong answer: ", response.ShortDebugString()));
    }
  }
  return latencies;
}

absl::Status Check(const Channel& channel, GrowthPoint& point) {
  TTL_RETURN_IF_ERROR(CheckLatencies(channel, point.items, kUncountedChecks).status());
  TTL_ASSIGN_OR_RETURN(std::vector<double> latencies,
                       CheckLatencies(channel, point.items, kCountedChecks));
  point.check_p50_us = Percentile(latencies, 0.5);
  point.check_p99_us = Percentile(latencies, 0.99);
  return absl::OkStatus();
}

absl::Status LetSweep(v1::ExpiryService::Stub& stub) {
  grpc::ClientContext context;
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_unlimited(true);
  v1::SetMaxDeletesPerSecondResponse response;
  return ToStatus(stub.SetMaxDeletesPerSecond(&context, request, &response), "raising the limit");
}

int64_t CountExpired(uint64_t items) {
  int64_t expired = 0;
  for (uint64_t i = 0; i < items; ++i) expired += TruthOf(i) == v1::VISIBILITY_EXPIRED ? 1 : 0;
  return expired;
}

absl::Status Sweep(const Channel& channel, GrowthPoint& point) {
  const auto stub = v1::ExpiryService::NewStub(channel);
  const int64_t expired = CountExpired(point.items);
  absl::StatusOr<int64_t> deleted = 0;
  const auto begin = steady_clock::now();
  TTL_RETURN_IF_ERROR(LetSweep(*stub));
  const auto is_over = [&] {
    deleted = CountDeletedItems(channel, kLoadedContainer);
    return !deleted.ok() || *deleted >= expired;
  };
  // Every look costs the sidecar time: it counts what is due.
  WaitUntil(is_over, kSweepDeadline, absl::Milliseconds(50));
  point.swept_per_second = static_cast<double>(expired) / SecondsSince(begin);
  if (!deleted.ok()) return deleted.status();
  if (*deleted == expired) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(*deleted, " items were swept instead of ", expired));
}

absl::Status LoadAndCheck(const SidecarProcessOptions& options, GrowthPoint& point) {
  SidecarProcess sidecar(options);
  TTL_RETURN_IF_ERROR(sidecar.Start());
  TTL_RETURN_IF_ERROR(Load(sidecar.channel(), point));
  TTL_RETURN_IF_ERROR(Check(sidecar.channel(), point));
  point.memory_mib = ToMib(AnonymousBytes(sidecar.process()->pid()));
  TTL_RETURN_IF_ERROR(sidecar.Stop());
  point.disk_mib = ToMib(DirectoryBytes(sidecar.data_dir()));
  return absl::OkStatus();
}

absl::Status StartAndSweep(SidecarProcessOptions options, GrowthPoint& point) {
  StoreStubProcess store(options.dir);
  TTL_RETURN_IF_ERROR(store.Start());
  options.store_address = store.address();
  options.flags = {"--max-deletes-per-second", "0"};
  SidecarProcess sidecar(options);
  const auto begin = steady_clock::now();
  TTL_RETURN_IF_ERROR(sidecar.Start(kStartDeadline));
  point.start_seconds = SecondsSince(begin);
  return Sweep(sidecar.channel(), point);
}

}  // namespace

absl::StatusOr<GrowthPoint> MeasureGrowth(uint64_t items) {
  const TempDir directory;
  SidecarProcessOptions options;
  options.dir = directory.path();
  GrowthPoint point;
  point.items = items;
  TTL_RETURN_IF_ERROR(LoadAndCheck(options, point));
  TTL_RETURN_IF_ERROR(StartAndSweep(options, point));
  return point;
}

}  // namespace ttl::bench
