#include "service/server/metrics/metric_catalog.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace ttl {
namespace {

constexpr const MetricInfo* kAll[] = {
    &metric::kOldestDueAge,
    &metric::kLateness,
    &metric::kBacklog,
    &metric::kExpiring,
    &metric::kFailing,
    &metric::kTrackedItems,
    &metric::kTrackedBytes,
    &metric::kUncountedContainers,
    &metric::kDeletesSent,
    &metric::kDeletes,
    &metric::kAllowedRate,
    &metric::kMaxRate,
    &metric::kRequestUnits,
    &metric::kHold,
    &metric::kHolds,
    &metric::kItemsSetAside,
    &metric::kWindowsDeletable,
    &metric::kWindowsDue,
    &metric::kWindowsNextStart,
    &metric::kPaused,
    &metric::kDeleteCalls,
    &metric::kDeleteCallDuration,
    &metric::kDeleteCallsUnderWay,
    &metric::kPushBacks,
    &metric::kOverdueContainers,
    &metric::kSweepAge,
    &metric::kFeedWatermarkLag,
    &metric::kFeedStalled,
    &metric::kFeedExpiredItems,
    &metric::kFeedBytes,
    &metric::kFeedUnacknowledgedAge,
    &metric::kFeedLostEvents,
    &metric::kFeedGatedItems,
    &metric::kFeedGateWait,
    &metric::kFeedFull,
    &metric::kFeedEventsSent,
    &metric::kStoreConfigured,
    &metric::kStoreReachable,
    &metric::kStoreUnconfirmed,
    &metric::kStoreSkew,
    &metric::kClockSuspect,
    &metric::kClockDifference,
    &metric::kDataInDoubt,
    &metric::kReconciliation,
    &metric::kReconciliationScanned,
    &metric::kReconciliationContainers,
    &metric::kReconciliationItems,
    &metric::kCalls,
    &metric::kCallDuration,
    &metric::kStreamsOpen,
    &metric::kMessages,
    &metric::kMessageDuration,
    &metric::kChecks,
    &metric::kImpossibleChecks,
    &metric::kIllegalTtls,
    &metric::kAccessRefusals,
    &metric::kClosedConnections,
    &metric::kReady,
    &metric::kWritable,
    &metric::kDamagedRecords,
    &metric::kCommitOperations,
    &metric::kCommitDuration,
    &metric::kCommitFailures,
    &metric::kQueued,
    &metric::kQueueLimit,
    &metric::kQueuedBytes,
    &metric::kQueuedBytesLimit,
    &metric::kRefusedWrites,
    &metric::kDiskFree,
    &metric::kDiskFloor,
    &metric::kWriteDuration,
    &metric::kSyncDuration,
    &metric::kStallSeconds,
    &metric::kOperations,
    &metric::kTableBytes,
    &metric::kMemoryBytes,
    &metric::kLevelFiles,
    &metric::kLevelBytes,
    &metric::kCompactionSeconds,
    &metric::kCompactionRead,
    &metric::kCompactionWritten,
    &metric::kCacheLookups,
    &metric::kCacheEntries,
    &metric::kCacheBytes,
    &metric::kCacheLimit,
    &metric::kBuildInfo,
    &metric::kScrapes,
    &metric::kScrapeDuration,
    &metric::kLogLinesLost,
    &metric::kProcessStart,
    &metric::kProcessCpu,
    &metric::kProcessResident,
    &metric::kProcessVirtual,
    &metric::kProcessFds,
    &metric::kProcessMaxFds,
    &metric::kProcessThreads,
};

const char* NameOf(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Gauge:
      return "gauge";
    case prometheus::MetricType::Histogram:
      return "histogram";
    case prometheus::MetricType::Summary:
    case prometheus::MetricType::Untyped:
      break;
  }
  return "untyped";
}

}  // namespace

absl::Span<const MetricInfo* const> AllMetrics() { return kAll; }

std::string DescribeMetrics() {
  std::string table = "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n";
  for (const MetricInfo* info : AllMetrics()) {
    absl::StrAppend(&table, "| ", info->name, " | ", NameOf(info->type), " | ",
                    absl::StrReplaceAll(info->labels, {{",", ", "}}), " | ", info->help, " |\n");
  }
  return table;
}

}  // namespace ttl
