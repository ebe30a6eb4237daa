#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/redis_load.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/testing/temp_dir.h"

namespace ttl::bench {
namespace {

Target AtLeast(double value) { return {Target::Kind::kAtLeast, value}; }

// Writes of new items by a process of raw_leveldb that goes on with the database of the one
// before: `work` is one of its works, with flags.
Measurement RawLoad(const std::string& directory, const std::vector<std::string>& work) {
  const auto written = std::make_shared<uint64_t>(0);
  std::filesystem::create_directory(directory);
  return [=](const Window& window) -> absl::StatusOr<Sample> {
    std::vector<std::string> arguments = work;
    arguments.insert(arguments.end(), {"--first", absl::StrCat(*written)});
    for (const std::string& flag : WindowFlags(window)) arguments.push_back(flag);
    TTL_ASSIGN_OR_RETURN(const Sample sample, RunRawLevelDb(directory, arguments));
    // More than were written in warm-up and window: the others leave a gap.
    *written += 1 + static_cast<uint64_t>(10 * sample.value);
    return sample;
  };
}

// What a contest of reports needs.
class Tracking {
 public:
  absl::Status Start() {
    TTL_RETURN_IF_ERROR(sidecar_.Start());
    TTL_RETURN_IF_ERROR(echo_.Start());
    return LoadItems(sidecar_.channel(), 0);
  }

  Contest Make(const LoadShape& shape) {
    Contest contest;
    contest.ours = TrackLoad(ServerOf(sidecar_), shape);
    return contest;
  }

  void AddEcho(const LoadShape& shape, double target, Contest& contest) {
    contest.opponents.push_back({"bare echo", TrackLoad(ServerOf(echo_), shape), AtLeast(target)});
  }

  void AddRaw(uint64_t batch, std::optional<Target> target, Contest& contest) {
    const std::string name = absl::StrCat("raw LevelDB, synced by ", batch);
    contest.opponents.push_back(
        {name,
         RawLoad(directory_.File(absl::StrCat(batch)), {"write", "--batch", absl::StrCat(batch)}),
         target});
  }

  absl::Status AddRedis(const std::string& name, const RedisShape& shape,
                        std::optional<Target> target, Contest& contest) {
    if (!RedisProcess::IsInstalled()) return absl::OkStatus();
    TTL_ASSIGN_OR_RETURN(
        redis_, RedisProcess::Start(directory_.path(), RedisProcess::Durability::kEveryWrite));
    contest.opponents.push_back({name, RedisSetLoad(*redis_, shape), target});
    return absl::OkStatus();
  }

 private:
  const TempDir directory_;
  SidecarProcess sidecar_{SidecarIn(directory_.path())};
  EchoProcess echo_{directory_.path()};
  std::unique_ptr<RedisProcess> redis_;
};

absl::StatusOr<Row> TrackBatches(const RowOptions& options, const LoadShape& shape,
                                 const std::string& name, const std::string& work) {
  Tracking tracking;
  TTL_RETURN_IF_ERROR(tracking.Start());
  Contest contest = tracking.Make(shape);
  contest.name = name;
  contest.work = work;
  contest.unit = "items/s";
  tracking.AddRaw(shape.batch, AtLeast(0.7), contest);
  // What can share one sync here.
  tracking.AddRaw(shape.batch * shape.in_flight, std::nullopt, contest);
  TTL_RETURN_IF_ERROR(tracking.AddRedis("Redis SET EX, appendfsync always, pipelined by 100",
                                        {.connections = 1, .pipelined = 100}, std::nullopt,
                                        contest));
  return Hold(contest, options.rounds);
}

}  // namespace

absl::StatusOr<Row> TrackOne(const RowOptions& options) {
  constexpr LoadShape kShape{.batch = 1, .in_flight = 64};
  Tracking tracking;
  TTL_RETURN_IF_ERROR(tracking.Start());
  Contest contest = tracking.Make(kShape);
  contest.name = "track-1";
  contest.work = "TrackItems, durable, 1 new item, 64 in flight";
  contest.unit = "items/s";
  tracking.AddEcho(kShape, 0.6, contest);
  TTL_RETURN_IF_ERROR(tracking.AddRedis("Redis SET EX, appendfsync always, 64 connections",
                                        {.connections = 64, .pipelined = 1}, AtLeast(0.7),
                                        contest));
  return Hold(contest, options.rounds);
}

// Without gRPC on either side.
absl::StatusOr<Row> CommitQueueOrWrite(const RowOptions& options) {
  const TempDir directory;
  Contest contest;
  contest.name = "commit-queue";
  contest.work = "commit queue in process, 1 new item, 64 in flight";
  contest.unit = "items/s";
  contest.ours = RawLoad(directory.File("queue"), {"report", "--in-flight", "64"});
  contest.opponents = {{"LevelDB's Write, synced, from 64 threads",
                        RawLoad(directory.File("write"), {"write-singly", "--in-flight", "64"}),
                        std::nullopt}};
  return Hold(contest, options.rounds);
}

absl::StatusOr<Row> TrackHundred(const RowOptions& options) {
  return TrackBatches(options, {.batch = 100, .in_flight = 16}, "track-100",
                      "TrackItems, durable, 100 new items, 16 in flight");
}

absl::StatusOr<Row> StreamTrackHundred(const RowOptions& options) {
  return TrackBatches(options, {.batch = 100, .in_flight = 16, .streamed = true},
                      "stream-track-100",
                      "StreamTrackItems, durable, 100 new items a message, 16 in flight");
}

}  // namespace ttl::bench
