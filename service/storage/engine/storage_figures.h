#ifndef TTL_SERVICE_STORAGE_ENGINE_STORAGE_FIGURES_H_
#define TTL_SERVICE_STORAGE_ENGINE_STORAGE_FIGURES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "service/base/distribution.h"

namespace ttl {

// Upper bounds of the histogram of operations per commit.
inline constexpr std::array<int64_t, 11> kCommitSizeBounds = {1,   2,   5,   10,   20,  50,
                                                              100, 200, 500, 1000, 2000};

// The commit queue; counts are since the start.
struct CommitFigures {
  Distribution<kCommitSizeBounds.size()> operations;  // in one commit
  DurationDistribution duration;  // from the commit taken to be written to its readers seeing it
  int64_t failed = 0;             // commits that could not be written
  int64_t queued_reports = 0;
  int64_t queued_report_bytes = 0;
  int64_t queued_changes = 0;  // of policy, outcomes, upkeep
  int64_t max_reports = 0;
  int64_t max_report_bytes = 0;
  int64_t max_changes = 0;
  int64_t refused_full = 0;  // the queue was too full
  int64_t refused_disk = 0;  // the disk was
  int64_t free_bytes = 0;    // of the volume, as last looked at
  int64_t report_floor_bytes = 0;
  int64_t outcome_floor_bytes = 0;
};

// The record cache; counts are since the start.
struct CacheFigures {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t entries = 0;
  int64_t bytes = 0;
  int64_t capacity_bytes = 0;
};

// One level of LevelDB. The figures of compactions count since it was opened, and are rounded to
// whole seconds and MiB.
struct LevelFigures {
  int64_t level = 0;
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t compaction_seconds = 0;
  int64_t compaction_read_bytes = 0;
  int64_t compaction_written_bytes = 0;
};

// Operations made on LevelDB.
struct OperationCounts {
  int64_t gets;
  int64_t puts;
  int64_t deletes;
  int64_t seeks;
  int64_t steps;  // of iterators
  int64_t syncs;
};

// LevelDB; counts are since the start.
struct DatabaseFigures {
  int64_t gets = 0;
  int64_t puts = 0;
  int64_t deletes = 0;
  int64_t seeks = 0;
  int64_t steps = 0;                 // of iterators
  DurationDistribution write;        // one batch, its fsync included
  DurationDistribution sync;         // the fsync alone
  int64_t memory_bytes = 0;          // of memtables and blocks
  int64_t table_bytes = 0;           // on disk, without the newest writes
  std::vector<LevelFigures> levels;  // only those in use; none while it is being reopened
};

// Counters and measurements of storage, at one moment.
struct StorageFigures {
  CommitFigures commits;
  CacheFigures cache;
  DatabaseFigures database;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_STORAGE_FIGURES_H_
