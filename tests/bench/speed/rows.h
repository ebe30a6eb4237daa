#ifndef TTL_TESTS_BENCH_SPEED_ROWS_H_
#define TTL_TESTS_BENCH_SPEED_ROWS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/speed/contest.h"
#include "tests/bench/speed/report.h"

// The rows of the table. Each starts what it needs anew and ends it.
namespace ttl::bench {

struct RowOptions {
  Rounds rounds;
  uint64_t items = 10'000'000;  // where it is their number that matters
};

// What is measured in one go: one row, or several that need the same.
struct RowGroup {
  std::string name;
  std::function<absl::StatusOr<std::vector<Row>>(const RowOptions&)> measure;
};

// All of them, in the order of the table.
const std::vector<RowGroup>& AllGroups();

// Checks of few items: all of them are at hand.
absl::StatusOr<Row> CheckOne(const RowOptions& options);
absl::StatusOr<Row> CheckHundred(const RowOptions& options);
absl::StatusOr<Row> StreamCheckHundred(const RowOptions& options);

// What it costs to look for the caller's name in each call.
absl::StatusOr<Row> CheckOneByTls(const RowOptions& options);

// Durable reports.
absl::StatusOr<Row> TrackOne(const RowOptions& options);
absl::StatusOr<Row> CommitQueueOrWrite(const RowOptions& options);
absl::StatusOr<Row> TrackHundred(const RowOptions& options);
absl::StatusOr<Row> StreamTrackHundred(const RowOptions& options);

// LevelDB's puts for items that are reported again and again.
absl::StatusOr<Row> RetrackUpkeep(const RowOptions& options);

// Deleting all that is expired as fast as it goes.
absl::StatusOr<Row> SweepAll(const RowOptions& options);

// With RowOptions::items tracked: checks beyond the cache, memory, disk, and a change of
// default_ttl.
absl::StatusOr<std::vector<Row>> LargeSet(const RowOptions& options);

// Checks while deletes go on.
absl::StatusOr<Row> CheckWhileSweeping(const RowOptions& options);

// Checks while somebody floods the health port with frames that carry no call; a row for each
// kind of frame.
absl::StatusOr<std::vector<Row>> CheckWhileFlooded(const RowOptions& options);

// What a feed adds to the cost of reports: while nothing expires, and while much does.
absl::StatusOr<Row> TrackWithFeed(const RowOptions& options);
absl::StatusOr<Row> TrackWhileFeeding(const RowOptions& options);

// How long after its second an expiry is told to a consumer.
absl::StatusOr<Row> FeedDelay(const RowOptions& options);

// What the client library does by itself: judging without a call, and sharing messages.
absl::StatusOr<std::vector<Row>> JudgeInClient(const RowOptions& options);
absl::StatusOr<std::vector<Row>> ShareChecks(const RowOptions& options);

// What gRPC's server APIs can do, which is why the hot methods have the one they have.
absl::StatusOr<Row> EchoApis(const RowOptions& options);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_ROWS_H_
