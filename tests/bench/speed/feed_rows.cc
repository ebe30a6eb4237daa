#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
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
#include "tests/bench/speed/item_names.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/bench/speed/statistics.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/feed_service.grpc.pb.h"

namespace ttl::bench {
namespace {

constexpr LoadShape kReports{.batch = 100, .in_flight = 16};
constexpr uint64_t kExpiriesBesideReports = 5'000;
constexpr uint64_t kExpiriesRead = 20'000;
constexpr int kExpiringContainers = 4;
// From the beginning of the loading to the first expiry: at least, and per 100,000 items.
constexpr int64_t kShortestLoading = 3;
constexpr int64_t kLoadingSeconds = 12;
constexpr absl::Duration kReadDeadline = absl::Minutes(2);
constexpr int kMaxRounds = 5;

std::string ExpiringContainer(int i) { return absl::StrCat("bench/expiring-", i); }

// Items that expire at a steady rate, the same number in each container.
struct Expiries {
  uint64_t per_second = 0;
  int64_t first = 0;  // the second of the first of them
  int64_t seconds = 0;

  uint64_t InContainer() const {
    return per_second / kExpiringContainers * static_cast<uint64_t>(seconds);
  }
  uint64_t All() const { return InContainer() * kExpiringContainers; }
};

// Those that begin as soon as they can be loaded.
Expiries ExpiriesOf(uint64_t per_second, int64_t seconds) {
  Expiries expiries{per_second, 0, seconds};
  const auto loading = kLoadingSeconds * static_cast<int64_t>(expiries.All() / 100'000);
  expiries.first = absl::ToUnixSeconds(absl::Now()) + kShortestLoading + loading;
  return expiries;
}

absl::Status LoadExpiries(const std::shared_ptr<grpc::Channel>& channel, const Expiries& expiries) {
  const uint64_t in_second = expiries.per_second / kExpiringContainers;
  for (int i = 0; i < kExpiringContainers; ++i) {
    for (int64_t second = 0; second < expiries.seconds; ++second) {
      const uint64_t first = in_second * static_cast<uint64_t>(second);
      LoadPlan plan{ExpiringContainer(i), first, first + in_second,
                    absl::ToUnixSeconds(absl::Now())};
      plan.expire_time = expiries.first + second;
      TTL_RETURN_IF_ERROR(LoadInheriting(channel, plan));
    }
  }
  if (absl::ToUnixSeconds(absl::Now()) < expiries.first) return absl::OkStatus();
  return absl::InternalError("loading took longer than the items live");
}

// A sidecar with a store that answers at once, and the containers of the loads.
class FedSidecar {
 public:
  explicit FedSidecar(bool has_feed) : has_feed_(has_feed) {}

  absl::Status Start() {
    TTL_RETURN_IF_ERROR(store_.Start());
    TTL_RETURN_IF_ERROR(sidecar_.Start());
    TTL_RETURN_IF_ERROR(LoadItems(sidecar_.channel(), 0));
    TTL_RETURN_IF_ERROR(Feed(kTrackedContainer));
    for (int i = 0; i < kExpiringContainers; ++i) {
      TTL_RETURN_IF_ERROR(
          CreateContainer(sidecar_.channel(), ExpiringContainer(i), /*default_ttl=*/-1));
      TTL_RETURN_IF_ERROR(Feed(ExpiringContainer(i)));
    }
    return absl::OkStatus();
  }

  SidecarProcess& sidecar() { return sidecar_; }

 private:
  absl::Status Feed(const std::string& container) {
    return has_feed_ ? SwitchFeedOn(sidecar_.channel(), container) : absl::OkStatus();
  }
  static SidecarProcessOptions With(const StoreStubProcess& store, const std::string& directory) {
    SidecarProcessOptions options = SidecarIn(directory);
    options.store_address = store.address();
    return options;
  }

  const bool has_feed_;
  const TempDir directory_;
  StoreStubProcess store_{directory_.path()};
  SidecarProcess sidecar_{With(store_, directory_.path())};
};

// Processor time of the sidecar for a report, in nanoseconds, and the throughput of each sample.
class CostOfReports {
 public:
  CostOfReports(bool has_feed, uint64_t expiries_per_second)
      : has_feed_(has_feed), expiries_per_second_(expiries_per_second) {}

  // With a new sidecar, since what one has written costs it compactions later.
  absl::StatusOr<Sample> Measure(const Window& window) {
    FedSidecar fed(has_feed_);
    TTL_RETURN_IF_ERROR(fed.Start());
    if (expiries_per_second_ > 0) {
      const auto length = std::chrono::ceil<std::chrono::seconds>(window.warm_up + window.length);
      const Expiries expiries = ExpiriesOf(expiries_per_second_, length.count() + 2);
      TTL_RETURN_IF_ERROR(LoadExpiries(fed.sidecar().channel(), expiries));
      absl::SleepFor(absl::FromUnixSeconds(expiries.first) - absl::Now());
    } else {
      AwaitQuiet(fed.sidecar().process()->pid());
    }
    TTL_ASSIGN_OR_RETURN(Sample sample, TrackLoad(ServerOf(fed.sidecar()), kReports)(window));
    per_second_.push_back(sample.value);
    sample.value = 1e9 * sample.server_cores / sample.value;
    return sample;
  }

  double PerSecond() const { return SpreadOf(per_second_).median; }

 private:
  const bool has_feed_;
  const uint64_t expiries_per_second_;
  std::vector<double> per_second_;
};

absl::StatusOr<Row> CompareReports(const RowOptions& options, uint64_t expiries_per_second,
                                   Contest contest) {
  CostOfReports on(/*has_feed=*/true, expiries_per_second);
  CostOfReports off(/*has_feed=*/false, expiries_per_second);
  contest.unit = "CPU ns/item";
  contest.ours = [&](const Window& window) { return on.Measure(window); };
  contest.opponents = {{"without a feed", [&](const Window& window) { return off.Measure(window); },
                        Target{Target::Kind::kAtMost, 1.03}}};
  TTL_ASSIGN_OR_RETURN(Row row, Hold(contest, options.rounds));
  row.note = absl::StrFormat("%.0f items/s with the feed, %.0f without; %s", on.PerSecond(),
                             off.PerSecond(), row.note);
  return row;
}

// Reads the events of what expires, and how long after its second each EXPIRED comes.
class ExpiryReader {
 public:
  ExpiryReader(const std::shared_ptr<grpc::Channel>& channel, const Expiries& expiries)
      : expiries_(expiries), stub_(v1::FeedService::NewStub(channel)) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + kReadDeadline));
    v1::WatchEventsRequest request;
    for (int i = 0; i < kExpiringContainers; ++i) {
      request.mutable_containers()->add_ids(ExpiringContainer(i));
    }
    request.mutable_containers()->add_kinds(v1::EVENT_KIND_EXPIRED);
    stream_ = stub_->WatchEvents(&context_, request);
    // It begins with the first response.
    v1::WatchEventsResponse first;
    is_open_ = stream_->Read(&first);
  }

  // Milliseconds of all of them. INTERNAL if one is missing, or announced before its second.
  absl::StatusOr<std::vector<double>> ReadAll() {
    std::vector<double> latencies;
    latencies.reserve(expiries_.All());
    v1::WatchEventsResponse response;
    while (is_open_ && latencies.size() < expiries_.All() && stream_->Read(&response)) {
      const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
      for (const v1::Event& event : response.events()) {
        const double latency = 1e3 * (now - static_cast<double>(event.expire_time()));
        if (latency < 0) return absl::InternalError("an EXPIRED came before its second");
        latencies.push_back(latency);
      }
    }
    context_.TryCancel();
    const grpc::Status status = stream_->Finish();
    if (latencies.size() == expiries_.All()) return latencies;
    return absl::InternalError(absl::StrCat(latencies.size(), " of ", expiries_.All(),
                                            " items were announced: ", status.error_message()));
  }

 private:
  const Expiries expiries_;
  const std::unique_ptr<v1::FeedService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchEventsResponse>> stream_;
  bool is_open_ = false;
};

// Percentiles of all rounds, in milliseconds.
struct Delays {
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> max;
  std::vector<double> server_cores;
};

absl::Status MeasureDelays(uint64_t per_second, int64_t seconds, Delays& delays) {
  FedSidecar fed(/*has_feed=*/true);
  TTL_RETURN_IF_ERROR(fed.Start());
  const Expiries expiries = ExpiriesOf(per_second, seconds);
  TTL_RETURN_IF_ERROR(LoadExpiries(fed.sidecar().channel(), expiries));
  const pid_t pid = fed.sidecar().process()->pid();
  ExpiryReader reader(fed.sidecar().channel(), expiries);
  const auto before = CpuTime(pid);
  TTL_ASSIGN_OR_RETURN(std::vector<double> latencies, reader.ReadAll());
  const std::chrono::duration<double> used = CpuTime(pid) - before;
  delays.p50.push_back(Percentile(latencies, 0.5));
  delays.p99.push_back(Percentile(latencies, 0.99));
  delays.max.push_back(Percentile(latencies, 1));
  delays.server_cores.push_back(used.count() / static_cast<double>(seconds));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Row> TrackWithFeed(const RowOptions& options) {
  return CompareReports(options, 0,
                        {.name = "feed-track",
                         .work = "TrackItems, durable, 100 new items, 16 in flight, with a feed, "
                                 "nothing expires",
                         .unit = {},
                         .ours = {},
                         .opponents = {}});
}

absl::StatusOr<Row> TrackWhileFeeding(const RowOptions& options) {
  return CompareReports(
      options, kExpiriesBesideReports,
      {.name = "feed-track-expiring",
       .work = absl::StrCat("the same while ", kExpiriesBesideReports,
                            " items/s of other containers with a feed expire and are deleted"),
       .unit = {},
       .ours = {},
       .opponents = {}});
}

absl::StatusOr<Row> FeedDelay(const RowOptions& options) {
  // Not more than there are items.
  const uint64_t per_second = std::min<uint64_t>(kExpiriesRead, options.items);
  const bool is_short = options.rounds.window.length < std::chrono::milliseconds(500);
  const int64_t seconds = is_short ? 1 : 5;
  Delays delays;
  for (int round = 0; round < std::min(options.rounds.count, kMaxRounds); ++round) {
    TTL_RETURN_IF_ERROR(MeasureDelays(per_second, seconds, delays));
  }
  Row row;
  row.name = "feed-delay";
  row.work = absl::StrFormat(
      "p99 of the time from the second of expiry to the consumer, %d expiries/s in %d containers, "
      "which are deleted",
      per_second, kExpiringContainers);
  row.unit = "ms";
  row.ours = SpreadOf(delays.p99);
  row.comparisons = {{"a second",
                      {1000, 1000, 1000},
                      {row.ours.min / 1000, row.ours.median / 1000, row.ours.max / 1000},
                      Target{Target::Kind::kAtMost, 1}}};
  row.note =
      absl::StrFormat("p50 %.0f ms, p99 %.0f-%.0f-%.0f ms, maximum %.0f ms; %.2f cores",
                      SpreadOf(delays.p50).median, row.ours.min, row.ours.median, row.ours.max,
                      SpreadOf(delays.max).max, SpreadOf(delays.server_cores).median);
  return row;
}

}  // namespace ttl::bench
