#include "service/server/metrics/storage_metrics.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/server/metrics/metric_catalog.h"

namespace ttl {
namespace {

void AddQueue(const CommitFigures& commits, MetricSheet& sheet) {
  sheet.Set(metric::kQueued, commits.queued_reports, {"reports"});
  sheet.Set(metric::kQueued, commits.queued_changes, {"changes"});
  sheet.Set(metric::kQueueLimit, commits.max_reports, {"reports"});
  sheet.Set(metric::kQueueLimit, commits.max_changes, {"changes"});
  sheet.Set(metric::kQueuedBytes, commits.queued_report_bytes);
  sheet.Set(metric::kQueuedBytesLimit, commits.max_report_bytes);
  sheet.Set(metric::kRefusedWrites, commits.refused_full, {"queue_full"});
  sheet.Set(metric::kRefusedWrites, commits.refused_disk, {"disk_floor"});
}

void AddDisk(const CommitFigures& commits, MetricSheet& sheet) {
  // The value of Database::FreeBytes() if it cannot be determined.
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  if (commits.free_bytes != kUnknown) sheet.Set(metric::kDiskFree, commits.free_bytes);
  sheet.Set(metric::kDiskFloor, commits.report_floor_bytes, {"reports"});
  sheet.Set(metric::kDiskFloor, commits.outcome_floor_bytes, {"changes"});
}

void AddCommits(const CommitFigures& commits, MetricSheet& sheet) {
  const std::vector<double> bounds(kCommitSizeBounds.begin(), kCommitSizeBounds.end());
  sheet.SetHistogram(metric::kCommitOperations, bounds, commits.operations.counts,
                     static_cast<double>(commits.operations.sum));
  sheet.SetDurations(metric::kCommitDuration, commits.duration);
  sheet.Set(metric::kCommitFailures, commits.failed);
}

void AddLevels(const std::vector<LevelFigures>& levels, MetricSheet& sheet) {
  for (const LevelFigures& level : levels) {
    const MetricSheet::LabelValues label = {absl::StrCat(level.level)};
    sheet.Set(metric::kLevelFiles, level.files, label);
    sheet.Set(metric::kLevelBytes, level.bytes, label);
    sheet.Set(metric::kCompactionSeconds, level.compaction_seconds, label);
    sheet.Set(metric::kCompactionRead, level.compaction_read_bytes, label);
    sheet.Set(metric::kCompactionWritten, level.compaction_written_bytes, label);
  }
}

void AddDatabase(const DatabaseFigures& database, MetricSheet& sheet) {
  sheet.SetDurations(metric::kWriteDuration, database.write);
  sheet.SetDurations(metric::kSyncDuration, database.sync);
  const int64_t stalled = std::max<int64_t>(database.write.sum - database.sync.sum, 0);
  sheet.Set(metric::kStallSeconds, static_cast<double>(stalled) * 1e-9);
  sheet.Set(metric::kOperations, database.gets, {"get"});
  sheet.Set(metric::kOperations, database.puts, {"put"});
  sheet.Set(metric::kOperations, database.deletes, {"delete"});
  sheet.Set(metric::kOperations, database.seeks, {"seek"});
  sheet.Set(metric::kOperations, database.steps, {"next"});
  sheet.Set(metric::kTableBytes, database.table_bytes);
  sheet.Set(metric::kMemoryBytes, database.memory_bytes);
  AddLevels(database.levels, sheet);
}

void AddCache(const CacheFigures& cache, MetricSheet& sheet) {
  sheet.Set(metric::kCacheLookups, cache.hits, {"hit"});
  sheet.Set(metric::kCacheLookups, cache.misses, {"miss"});
  sheet.Set(metric::kCacheEntries, cache.entries);
  sheet.Set(metric::kCacheBytes, cache.bytes);
  sheet.Set(metric::kCacheLimit, cache.capacity_bytes);
}

}  // namespace

void AddStorageMetrics(const StorageFigures& figures, MetricSheet& sheet) {
  AddCommits(figures.commits, sheet);
  AddQueue(figures.commits, sheet);
  AddDisk(figures.commits, sheet);
  AddDatabase(figures.database, sheet);
  AddCache(figures.cache, sheet);
}

}  // namespace ttl
