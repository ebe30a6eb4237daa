#ifndef TTL_CLIENT_POSTGRES_STORE_STORE_COUNTERS_H_
#define TTL_CLIENT_POSTGRES_STORE_STORE_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// What was done for one container since the start. Thread-safe; only grows.
struct StoreCounters {
  // Items by their outcome: the number of the enum; without those that are out_of_time.
  std::array<std::atomic<int64_t>, v1::DeleteOutcome_ARRAYSIZE> outcomes = {};
  // Items that were answered THROTTLED since the time of their call was used up.
  std::atomic<int64_t> out_of_time = 0;
  // DeleteItems that ended with an error.
  std::atomic<int64_t> failed_calls = 0;
  // Calls that were answered THROTTLED without touching the table, since the database is busy.
  std::atomic<int64_t> yielded_calls = 0;
  // Transactions of deletes that took longer than they may.
  std::atomic<int64_t> overruns = 0;
  // Rows that deletes read or wrote, as the statistics of PostgreSQL count them.
  std::atomic<int64_t> rows_touched = 0;
  // Rows that scans read, and those of them that cannot be tracked.
  std::atomic<int64_t> rows_scanned = 0;
  std::atomic<int64_t> rows_untrackable = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_STORE_COUNTERS_H_
