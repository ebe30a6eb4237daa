#include <memory>
#include <optional>

#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/redis_load.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/testing/temp_dir.h"

namespace ttl::bench {
namespace {

constexpr uint64_t kHotItems = 20'000;
constexpr LoadShape kOneKey{.batch = 1, .in_flight = 64};
constexpr LoadShape kHundredKeys{.batch = 100, .in_flight = 16};
constexpr LoadShape kStreamed{.batch = 100, .in_flight = 16, .streamed = true};

Target AtLeast(double value) { return {Target::Kind::kAtLeast, value}; }

// What a contest of hot checks needs.
class HotCheck {
 public:
  absl::Status Start() {
    TTL_RETURN_IF_ERROR(sidecar_.Start());
    TTL_RETURN_IF_ERROR(echo_.Start());
    return LoadItems(sidecar_.channel(), kHotItems);
  }

  // Ours, and the echo that is to be reached by `target`.
  Contest Make(const LoadShape& shape, std::optional<Target> target) {
    Contest contest;
    contest.ours = CheckLoad(ServerOf(sidecar_), shape, kHotItems);
    contest.opponents = {{"bare echo", CheckLoad(ServerOf(echo_), shape, kHotItems), target}};
    return contest;
  }

  // Adds Redis, asked for as many keys at once. On two connections, so that it has the
  // next batch at hand when it has answered one.
  absl::Status AddRedis(double target, Contest& contest) {
    if (!RedisProcess::IsInstalled()) return absl::OkStatus();
    TTL_ASSIGN_OR_RETURN(redis_,
                         RedisProcess::Start(directory_.path(), RedisProcess::Durability::kNone));
    TTL_RETURN_IF_ERROR(LoadRedis(*redis_, kHotItems));
    contest.opponents.push_back(
        {"Redis EXISTS pipelined by 100",
         RedisExistsLoad(*redis_, {.connections = 2, .pipelined = 100}, kHotItems),
         AtLeast(target)});
    return absl::OkStatus();
  }

 private:
  const TempDir directory_;
  SidecarProcess sidecar_{SidecarIn(directory_.path())};
  EchoProcess echo_{directory_.path()};
  std::unique_ptr<RedisProcess> redis_;
};

}  // namespace

absl::StatusOr<Row> CheckOne(const RowOptions& options) {
  HotCheck hot;
  TTL_RETURN_IF_ERROR(hot.Start());
  Contest contest = hot.Make(kOneKey, AtLeast(0.9));
  contest.name = "check-1";
  contest.work = "CheckVisibility, 1 key, 64 in flight";
  contest.unit = "calls/s";
  return Hold(contest, options.rounds);
}

absl::StatusOr<Row> CheckHundred(const RowOptions& options) {
  HotCheck hot;
  TTL_RETURN_IF_ERROR(hot.Start());
  Contest contest = hot.Make(kHundredKeys, AtLeast(0.8));
  TTL_RETURN_IF_ERROR(hot.AddRedis(1.0, contest));
  contest.name = "check-100";
  contest.work = "CheckVisibility, 100 keys, 16 in flight, hot";
  contest.unit = "keys/s";
  return Hold(contest, options.rounds);
}

absl::StatusOr<Row> StreamCheckHundred(const RowOptions& options) {
  HotCheck hot;
  TTL_RETURN_IF_ERROR(hot.Start());
  Contest contest = hot.Make(kStreamed, std::nullopt);
  TTL_RETURN_IF_ERROR(hot.AddRedis(1.3, contest));
  contest.name = "stream-check-100";
  contest.work = "StreamCheckVisibility, 100 keys a message, 16 in flight, hot";
  contest.unit = "keys/s";
  return Hold(contest, options.rounds);
}

}  // namespace ttl::bench
