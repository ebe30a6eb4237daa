#include "tests/bench/speed/rows.h"

#include "service/base/status_macros.h"

namespace ttl::bench {
namespace {

RowGroup Single(const char* name, absl::StatusOr<Row> (*measure)(const RowOptions&)) {
  return {name, [measure](const RowOptions& options) -> absl::StatusOr<std::vector<Row>> {
            TTL_ASSIGN_OR_RETURN(const Row row, measure(options));
            return std::vector<Row>{row};
          }};
}

}  // namespace

const std::vector<RowGroup>& AllGroups() {
  static const auto* const groups = new std::vector<RowGroup>{
      Single("echo-apis", EchoApis),
      Single("check-1", CheckOne),
      Single("check-100", CheckHundred),
      Single("stream-check-100", StreamCheckHundred),
      Single("check-1-tls", CheckOneByTls),
      Single("track-1", TrackOne),
      Single("commit-queue", CommitQueueOrWrite),
      Single("track-100", TrackHundred),
      Single("stream-track-100", StreamTrackHundred),
      Single("retrack", RetrackUpkeep),
      Single("feed-track", TrackWithFeed),
      Single("feed-track-expiring", TrackWhileFeeding),
      Single("feed-delay", FeedDelay),
      Single("sweep", SweepAll),
      Single("check-sweeping", CheckWhileSweeping),
      {"check-flooded", CheckWhileFlooded},
      {"large", LargeSet},
      {"local", JudgeInClient},
      {"shared", ShareChecks},
  };
  return *groups;
}

}  // namespace ttl::bench
