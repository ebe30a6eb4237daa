#ifndef TTL_TESTS_FAULT_FEED_LOG_RULES_H_
#define TTL_TESTS_FAULT_FEED_LOG_RULES_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "ttl/v1/feed.pb.h"

namespace ttl {

// A version of an item: container, id and `_ts`.
using FeedVersion = std::tuple<std::string, std::string, int64_t>;

// What a store was asked to delete, by the clock of the sidecar.
struct StoreDeletes {
  std::map<FeedVersion, absl::Time> first_asked;
  std::map<FeedVersion, absl::Time> first_deleted;
};

// How many events of which kind a log has.
using FeedCounts = std::map<v1::EventKind, int64_t>;
FeedCounts CountEvents(const std::map<uint64_t, v1::Event>& log);

// What is wrong with a log, complete from its beginning and read after everything has expired and
// was deleted; one sentence each, at most twenty:
//
// - an EXPIRED that is not closed exactly once, later, by an event of its version
// - a second EXPIRED of a version before the first is closed
// - a version that the store was asked to delete before its EXPIRED, or without one
// - a PURGED of what the store has not deleted by then
// - a version of `expired`, those that must have expired, without an EXPIRED
//
// Pure.
std::vector<std::string> FeedLogProblems(const std::map<uint64_t, v1::Event>& log,
                                         const StoreDeletes& deletes,
                                         const std::vector<FeedVersion>& expired);

}  // namespace ttl

#endif  // TTL_TESTS_FAULT_FEED_LOG_RULES_H_
