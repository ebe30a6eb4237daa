#ifndef TTL_CLIENT_POSTGRES_STORE_STORE_COUNTERS_H_
#define TTL_CLIENT_POSTGRES_STORE_STORE_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// Counters of one container since the start. Thread-safe; they only grow, except
// condemned_groups.
struct StoreCounters {
  // Items by outcome, indexed by the enum's number; excludes out_of_time.
  std::array<std::atomic<int64_t>, v1::DeleteOutcome_ARRAYSIZE> outcomes = {};
  // Items answered THROTTLED because the call's time was used up.
  std::atomic<int64_t> out_of_time = 0;
  // DeleteItems calls that returned an error.
  std::atomic<int64_t> failed_calls = 0;
  // Calls answered THROTTLED without touching the table, because deletes must pause.
  std::atomic<int64_t> yielded_calls = 0;
  // Delete transactions that exceeded their time limit.
  std::atomic<int64_t> overruns = 0;
  // Rows that deletes read or wrote, as PostgreSQL's statistics count them.
  std::atomic<int64_t> rows_touched = 0;
  // Rows of condemned groups that were deleted.
  std::atomic<int64_t> condemned_rows = 0;
  // Condemned groups that are not yet gone, as far as known.
  std::atomic<int64_t> condemned_groups = 0;
  // Rows that scans read, and the number of those that cannot be tracked.
  std::atomic<int64_t> rows_scanned = 0;
  std::atomic<int64_t> rows_untrackable = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_STORE_COUNTERS_H_
