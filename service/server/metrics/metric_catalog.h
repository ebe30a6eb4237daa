#ifndef TTL_SERVICE_SERVER_METRICS_METRIC_CATALOG_H_
#define TTL_SERVICE_SERVER_METRICS_METRIC_CATALOG_H_

#include <string>

#include "absl/types/span.h"
#include "service/server/metrics/metric_info.h"

// All metrics, with names and units by the conventions of Prometheus. Counters start with the
// process. The number of label values is bounded: for "container" by --metrics-containers, with the
// rest under "other", for all others by the program.
namespace ttl::metric {

using prometheus::MetricType;

// Expiry: how late deletes are comes first.
inline constexpr MetricInfo kOldestDueAge = {
    "ttl_sidecar_oldest_due_age_seconds", MetricType::Gauge, "container",
    "Age of the oldest item that is due and not deleted; 0 if nothing is due. Look at this metric "
    "first: it grows by one second per second while deletes stand still, whatever the reason. "
    "ttl_sidecar_delete_hold says why."};
inline constexpr MetricInfo kLateness = {
    "ttl_sidecar_delete_lateness_seconds", MetricType::Histogram, "container",
    "Time from when an item became due to its delete, without the time in which the windows of the "
    "container allowed no deletes. Expired items are hidden at once in any case; lateness only "
    "concerns the space of the store."};
inline constexpr MetricInfo kBacklog = {
    "ttl_sidecar_backlog_items", MetricType::Gauge, "container",
    "Items that are due and not deleted, estimated from counts by time: exact unless the items of "
    "a container spread over more than about a thousand seconds, and too low after a start until "
    "ttl_sidecar_uncounted_containers is 0."};
inline constexpr MetricInfo kExpiring = {
    "ttl_sidecar_expiring_items", MetricType::Gauge, "container,within",
    "Items that will expire within the next hour, day and week if nothing changes; each includes "
    "the shorter ones. Exact and complete as far as ttl_sidecar_backlog_items is. More within the "
    "hour than 3600 times ttl_sidecar_allowed_deletes_per_second cannot be deleted in time."};
inline constexpr MetricInfo kFailing = {
    "ttl_sidecar_failing_items", MetricType::Gauge, "container",
    "Items whose delete has failed at least once and is retried later. ttlctl stuck lists them "
    "with the reasons that the store gave."};
inline constexpr MetricInfo kTrackedItems = {
    "ttl_sidecar_tracked_items", MetricType::Gauge, "container",
    "Tracked items, including expired ones that are not deleted yet."};
inline constexpr MetricInfo kTrackedBytes = {
    "ttl_sidecar_tracked_bytes", MetricType::Gauge, "container",
    "Size of the tracked items, as reported by the store."};
inline constexpr MetricInfo kUncountedContainers = {
    "ttl_sidecar_uncounted_containers", MetricType::Gauge, "",
    "Containers whose items are still being counted in the background after the start. While it is "
    "not 0, backlogs and failing items are too low."};
inline constexpr MetricInfo kDeletesSent = {
    "ttl_sidecar_deletes_sent_total", MetricType::Counter, "container",
    "Deletes sent to the store. Its rate is the rate of deletes."};
inline constexpr MetricInfo kDeletes = {
    "ttl_sidecar_deletes_total", MetricType::Counter, "container,outcome",
    "Deletes by outcome. modified is not an error: the item was written meanwhile and stays. "
    "failed, throttled and out_of_time deletes are retried; out_of_time: the store could not carry "
    "them out within the deadline of the call. The store may have carried out some of the "
    "unanswered ones."};
inline constexpr MetricInfo kAllowedRate = {
    "ttl_sidecar_allowed_deletes_per_second", MetricType::Gauge, "container",
    "Maximum rate of deletes now: the lowest of the limits, of what requests leave over, and of "
    "the rate that the store accepts after push-back. +Inf: no limit."};
inline constexpr MetricInfo kMaxRate = {
    "ttl_sidecar_max_deletes_per_second", MetricType::Gauge, "",
    "Limit on the deletes of all containers together. +Inf: no limit."};
inline constexpr MetricInfo kRequestUnits = {
    "ttl_sidecar_request_units_per_second", MetricType::Gauge, "container,kind",
    "Throughput of containers that set it: provisioned, and used by requests as reported. After "
    "ten seconds without a report all of it counts as used."};
inline constexpr MetricInfo kHold = {
    "ttl_sidecar_delete_hold", MetricType::Gauge, "container,hold",
    "1 for each hold on deletes of a container now; the names are those of the API. Under "
    "\"other\", only holds common to all those containers that have due items."};
inline constexpr MetricInfo kHolds = {
    "ttl_sidecar_holds", MetricType::Gauge, "container",
    "Holds on items of a container that stand (service/holds.md). ttlctl holds list shows them."};
inline constexpr MetricInfo kItemsSetAside = {
    "ttl_sidecar_items_set_aside", MetricType::Gauge, "container",
    "Due items that are not deleted because a hold covers them, as far as deletes have come to "
    "them. They are not part of the backlog. Items of a container that is held as a whole are."};
inline constexpr MetricInfo kWindowsDeletable = {
    "ttl_sidecar_windows_deletable_items", MetricType::Gauge, "container",
    "Maximum number of deletes in the next seven days by the windows of a container and the limits "
    "(service/windows.md). +Inf: no limit. This and the next two only of containers with windows "
    "that are not counted under \"other\"."};
inline constexpr MetricInfo kWindowsDue = {
    "ttl_sidecar_windows_due_items", MetricType::Gauge, "container",
    "Items that are due, and those that become due within seven days if nothing is written. More "
    "than ttl_sidecar_windows_deletable_items cannot be deleted by then."};
inline constexpr MetricInfo kWindowsNextStart = {
    "ttl_sidecar_windows_next_start_timestamp_seconds", MetricType::Gauge, "container",
    "When the windows of the container allow deletes next; 0 if they do now, or never do."};
inline constexpr MetricInfo kPaused = {
    "ttl_sidecar_deletes_paused", MetricType::Gauge, "",
    "1 while an operator has paused the deletes of all containers."};
inline constexpr MetricInfo kDeleteCalls = {
    "ttl_sidecar_delete_calls_total", MetricType::Counter, "code",
    "Completed DeleteItems calls to the store, by status code."};
inline constexpr MetricInfo kDeleteCallDuration = {
    "ttl_sidecar_delete_call_duration_seconds", MetricType::Histogram, "",
    "Latency of DeleteItems calls. If most of the last calls take twice the average, the rate of "
    "deletes is reduced."};
inline constexpr MetricInfo kDeleteCallsUnderWay = {
    "ttl_sidecar_delete_calls_under_way", MetricType::Gauge, "",
    "DeleteItems calls in flight. If it is always at --max-calls-under-way, the latency of the "
    "store limits deletes."};
inline constexpr MetricInfo kPushBacks = {
    "ttl_sidecar_push_backs_total", MetricType::Counter, "kind",
    "Number of times that the store asked for fewer deletes, or that its errors or latency implied "
    "it. Each reduces the rate at once; it grows back step by step."};
inline constexpr MetricInfo kOverdueContainers = {
    "ttl_sidecar_overdue_containers", MetricType::Gauge, "",
    "Containers whose deletes make no progress: an item has been due for 15 minutes, none was "
    "deleted for 5, and no choice of an operator or policy holds them. While it is not 0, the "
    "status is degraded, with the reasons, and the health service name sweep is NOT_SERVING."};
inline constexpr MetricInfo kSweepAge = {
    "ttl_sidecar_sweeper_step_age_seconds", MetricType::Gauge, "",
    "Time since the last step of the sweeper. It takes a step every few seconds, whatever the "
    "store does: above 30 it is stalled."};

// The feeds, of containers that have one.
inline constexpr MetricInfo kFeedWatermarkLag = {
    "ttl_sidecar_feed_watermark_lag_seconds", MetricType::Gauge, "container",
    "Time up to which all expiries of a container have been announced in its feed, as an age. At "
    "most a "
    "few seconds unless the feed stands still or cannot keep up. While its items are looked at for "
    "the first time after a start or a change of policy, the time since then."};
inline constexpr MetricInfo kFeedStalled = {
    "ttl_sidecar_feed_stalled", MetricType::Gauge, "container",
    "1 while no expiries of a container are logged: the clock is suspect, the data or the store is "
    "in doubt, or the container cannot be read. ttlctl status says why."};
inline constexpr MetricInfo kFeedExpiredItems = {
    "ttl_sidecar_feed_expired_items", MetricType::Gauge, "container",
    "Items that have been announced to be expired and are still stored. After a start, of those "
    "counted "
    "so far."};
inline constexpr MetricInfo kFeedBytes = {
    "ttl_sidecar_feed_bytes", MetricType::Gauge, "container",
    "Bytes of events that are kept, counted in the background after a start. At max_bytes of the "
    "feed the oldest are dropped."};
inline constexpr MetricInfo kFeedUnacknowledgedAge = {
    "ttl_sidecar_feed_unacknowledged_age_seconds", MetricType::Gauge, "container,subscription",
    "Age of the oldest event that a subscription has not acknowledged; 0 if there is none. It "
    "grows by one second per second while its consumer does nothing."};
inline constexpr MetricInfo kFeedLostEvents = {
    "ttl_sidecar_feed_lost_events", MetricType::Gauge, "container,subscription",
    "1 if events were dropped that a subscription had not acknowledged, until it acknowledges "
    "again."};
inline constexpr MetricInfo kFeedGatedItems = {
    "ttl_sidecar_feed_gated_items", MetricType::Gauge, "container",
    "Due items that wait until gated subscriptions have acknowledged their EXPIRED, as far as "
    "deletes have come to them. They are not part of the backlog. After a start, of those counted "
    "so far."};
inline constexpr MetricInfo kFeedGateWait = {
    "ttl_sidecar_feed_gate_wait_seconds", MetricType::Gauge, "container,subscription",
    "Age of the oldest event for which deletes wait for a gated subscription; 0 while none wait. "
    "Above 3600 the status is degraded, and the health service name sweep is NOT_SERVING."};
inline constexpr MetricInfo kFeedFull = {
    "ttl_sidecar_feed_full", MetricType::Gauge, "container",
    "1 while max_bytes of the feed are used up by events that a gated subscription has not "
    "acknowledged: no expiries of the container are logged, so no further item is deleted."};
inline constexpr MetricInfo kFeedEventsSent = {
    "ttl_sidecar_feed_events_sent_total", MetricType::Counter, "",
    "Events sent on streams of WatchEvents, over all containers and streams."};

// The store and the clock.
inline constexpr MetricInfo kStoreConfigured = {
    "ttl_sidecar_store_configured", MetricType::Gauge, "",
    "1 if a primary store is configured; without one nothing is deleted."};
inline constexpr MetricInfo kStoreReachable = {
    "ttl_sidecar_store_reachable", MetricType::Gauge, "",
    "1 if the primary store responded to the last call."};
inline constexpr MetricInfo kStoreUnconfirmed = {
    "ttl_sidecar_store_unconfirmed", MetricType::Gauge, "",
    "1 while the store may not be the one that the tracked items belong to. Deletes wait for "
    "ttlctl store confirm."};
inline constexpr MetricInfo kStoreSkew = {
    "ttl_sidecar_store_clock_skew_seconds", MetricType::Gauge, "",
    "The sidecar's clock minus the store's; absent until the store has returned its time."};
inline constexpr MetricInfo kClockSuspect = {
    "ttl_sidecar_clock_suspect", MetricType::Gauge, "",
    "1 while the sidecar's clock is suspect: nothing is deleted, and checks hide only items that "
    "are expired by both clocks."};
inline constexpr MetricInfo kClockDifference = {
    "ttl_sidecar_clock_difference_seconds", MetricType::Gauge, "",
    "The wall clock minus the steady clock; absent if one of them cannot be read. Up to 5 s count "
    "as agreement."};

// Whether what is tracked is whole, and the comparison with the store.
inline constexpr MetricInfo kDataInDoubt = {
    "ttl_sidecar_data_in_doubt", MetricType::Gauge, "",
    "1 while the tracked data may be incomplete: after a restore, a repair, a start without data "
    "or a confirmation of the store. Checks are judged only by the state that they carry, and "
    "nothing is deleted."};
inline constexpr MetricInfo kReconciliation = {
    "ttl_sidecar_reconciliation", MetricType::Gauge, "kind,state",
    "1 for the running reconciliation or rebuild, or the last one since the start, by state: "
    "running, waiting (it retries; the log says why), done, failed or cancelled."};
inline constexpr MetricInfo kReconciliationScanned = {
    "ttl_sidecar_reconciliation_scanned_items", MetricType::Gauge, "",
    "Items that the reconciliation has read from the store, over all containers. It starts at 0 "
    "with each reconciliation, and with a rebuild that continues after a restart."};
inline constexpr MetricInfo kReconciliationContainers = {
    "ttl_sidecar_reconciliation_containers", MetricType::Gauge, "part",
    "Containers that the reconciliation has completed (done), and all that it covers (all)."};
inline constexpr MetricInfo kReconciliationItems = {
    "ttl_sidecar_reconciliation_container_items", MetricType::Gauge, "part",
    "Items of the current container: read so far, and the store's estimate (estimated, absent if "
    "it gave none)."};

// Calls.
inline constexpr MetricInfo kCalls = {
    "ttl_sidecar_rpc_calls_total", MetricType::Counter, "method,code",
    "Completed calls, by method and status code. A stream counts once, when it ends."};
inline constexpr MetricInfo kCallDuration = {"ttl_sidecar_rpc_duration_seconds",
                                             MetricType::Histogram, "method",
                                             "Latency of unary calls, from the request read to the "
                                             "response passed to gRPC. Writes wait for the disk."};
inline constexpr MetricInfo kStreamsOpen = {
    "ttl_sidecar_rpc_streams_open", MetricType::Gauge, "method",
    "Open streams: streams of checks and reports, and watchers."};
inline constexpr MetricInfo kMessages = {
    "ttl_sidecar_rpc_stream_messages_total", MetricType::Counter, "method,code",
    "Messages of streams that were answered, by their own status code."};
inline constexpr MetricInfo kMessageDuration = {
    "ttl_sidecar_rpc_stream_message_duration_seconds", MetricType::Histogram, "method",
    "Latency of messages of streams, from read to answered."};
inline constexpr MetricInfo kChecks = {
    "ttl_sidecar_checks_total", MetricType::Counter, "verdict",
    "Visibility checks answered, by result; one call has many. Many untracked ones mean that "
    "reports are missing, or that stores check items that they never reported."};
inline constexpr MetricInfo kImpossibleChecks = {
    "ttl_sidecar_impossible_checks_total", MetricType::Counter, "",
    "Checks that carried an impossible ts or ttl and resulted in visible. If it is not 0, a client "
    "is wrong, usually sending milliseconds for seconds."};
inline constexpr MetricInfo kIllegalTtls = {
    "ttl_sidecar_illegal_ttls_total", MetricType::Counter, "",
    "Reports with an illegal ttl or expire_at that were accepted because the container's TTL is "
    "off: such an item never expires until it is written again, even if TTL is switched on."};
inline constexpr MetricInfo kAccessRefusals = {
    "ttl_sidecar_access_refusals_total", MetricType::Counter, "role",
    "Calls refused with PERMISSION_DENIED, by the role that would have allowed them."};
inline constexpr MetricInfo kClosedConnections = {
    "ttl_sidecar_closed_connections_total", MetricType::Counter, "reason",
    "Connections that the sidecar closed because of their clients. too_many_connections: above the "
    "address's share of --max-connections; the other reasons are limits in deploy/sizing.md."};

// Writing.
inline constexpr MetricInfo kReady = {
    "ttl_sidecar_ready", MetricType::Gauge, "",
    "1 while the health service reports SERVING for readiness. 0 during start and stop, and while "
    "writes are refused; the log says why."};
inline constexpr MetricInfo kWritable = {
    "ttl_sidecar_storage_writable", MetricType::Gauge, "",
    "0 after a failed write, until the database is reopened: reports are refused and nothing is "
    "deleted; checks are still answered."};
inline constexpr MetricInfo kDamagedRecords = {"ttl_sidecar_storage_damaged_containers",
                                               MetricType::Gauge, "",
                                               "Containers whose record was unreadable at the "
                                               "start. They are not changed; the log names them."};
inline constexpr MetricInfo kCommitOperations = {
    "ttl_sidecar_commit_operations", MetricType::Histogram, "",
    "Operations per commit, and so per fsync. It grows by itself under load."};
inline constexpr MetricInfo kCommitDuration = {
    "ttl_sidecar_commit_duration_seconds", MetricType::Histogram, "",
    "Latency of commits, from the start of writing until readers see them."};
inline constexpr MetricInfo kCommitFailures = {
    "ttl_sidecar_commit_failures_total", MetricType::Counter, "",
    "Commits that could not be written. Their callers got UNAVAILABLE."};
inline constexpr MetricInfo kQueued = {
    "ttl_sidecar_queued_writes", MetricType::Gauge, "place",
    "Operations that wait to be committed: reports of stores, and changes (policies, outcomes of "
    "deletes, upkeep), which go first."};
inline constexpr MetricInfo kQueueLimit = {
    "ttl_sidecar_queued_writes_limit", MetricType::Gauge, "place",
    "Maximum number of waiting operations; further ones are refused with RESOURCE_EXHAUSTED."};
inline constexpr MetricInfo kQueuedBytes = {"ttl_sidecar_queued_report_bytes", MetricType::Gauge,
                                            "", "Memory of the reports that wait to be committed."};
inline constexpr MetricInfo kQueuedBytesLimit = {"ttl_sidecar_queued_report_bytes_limit",
                                                 MetricType::Gauge, "",
                                                 "Maximum memory of waiting reports."};
inline constexpr MetricInfo kRefusedWrites = {
    "ttl_sidecar_refused_writes_total", MetricType::Counter, "reason",
    "Operations refused with RESOURCE_EXHAUSTED. queue_full: the client should retry; disk_floor: "
    "the volume has too little free space."};
inline constexpr MetricInfo kDiskFree = {
    "ttl_sidecar_disk_free_bytes", MetricType::Gauge, "",
    "Free space of the volume of --data-dir at the last check; absent if it is unknown."};
inline constexpr MetricInfo kDiskFloor = {
    "ttl_sidecar_disk_floor_bytes", MetricType::Gauge, "place",
    "Free space below which reports are refused, and below which changes are refused."};

// LevelDB and the cache.
inline constexpr MetricInfo kWriteDuration = {
    "ttl_sidecar_storage_write_duration_seconds", MetricType::Histogram, "",
    "Latency of durable writes of one batch to LevelDB. Time beyond the fsync is mostly a stall: "
    "the write waits for a compaction."};
inline constexpr MetricInfo kSyncDuration = {"ttl_sidecar_storage_sync_duration_seconds",
                                             MetricType::Histogram, "",
                                             "Latency of the fsync of LevelDB's log."};
inline constexpr MetricInfo kStallSeconds = {"ttl_sidecar_storage_stall_seconds_total",
                                             MetricType::Counter, "",
                                             "Total time of LevelDB's writes beyond their fsync. "
                                             "If its rate is near 1, compactions do not keep up."};
inline constexpr MetricInfo kOperations = {"ttl_sidecar_storage_operations_total",
                                           MetricType::Counter, "operation",
                                           "LevelDB operations; next is a step of an iterator."};
inline constexpr MetricInfo kTableBytes = {
    "ttl_sidecar_storage_table_bytes", MetricType::Gauge, "",
    "Approximate size of LevelDB's tables on disk, without the newest writes."};
inline constexpr MetricInfo kMemoryBytes = {"ttl_sidecar_storage_memory_bytes", MetricType::Gauge,
                                            "", "Memory of LevelDB's memtables and blocks."};
inline constexpr MetricInfo kLevelFiles = {
    "ttl_sidecar_leveldb_level_files", MetricType::Gauge, "level",
    "Files of each level. With 8 or more at level 0 LevelDB delays each write by a millisecond, "
    "with 12 it stops writes."};
inline constexpr MetricInfo kLevelBytes = {"ttl_sidecar_leveldb_level_bytes", MetricType::Gauge,
                                           "level",
                                           "Size of each level, rounded to MiB by LevelDB."};
inline constexpr MetricInfo kCompactionSeconds = {
    "ttl_sidecar_leveldb_compaction_seconds_total", MetricType::Counter, "level",
    "Time spent on compactions into each level, rounded to seconds by LevelDB."};
inline constexpr MetricInfo kCompactionRead = {
    "ttl_sidecar_leveldb_compaction_read_bytes_total", MetricType::Counter, "level",
    "Bytes read by compactions into each level, rounded to MiB by LevelDB."};
inline constexpr MetricInfo kCompactionWritten = {
    "ttl_sidecar_leveldb_compaction_written_bytes_total", MetricType::Counter, "level",
    "Bytes written by compactions into each level, rounded to MiB by LevelDB."};
inline constexpr MetricInfo kCacheLookups = {
    "ttl_sidecar_cache_lookups_total", MetricType::Counter, "result",
    "Lookups in the record cache; a miss reads LevelDB. If there are few hits and the cache is "
    "full, raise --cache-mib."};
inline constexpr MetricInfo kCacheEntries = {"ttl_sidecar_cache_entries", MetricType::Gauge, "",
                                             "Records in the record cache."};
inline constexpr MetricInfo kCacheBytes = {"ttl_sidecar_cache_bytes", MetricType::Gauge, "",
                                           "Estimated memory of the record cache."};
inline constexpr MetricInfo kCacheLimit = {"ttl_sidecar_cache_limit_bytes", MetricType::Gauge, "",
                                           "Maximum memory of the record cache."};

// The process.
inline constexpr MetricInfo kBuildInfo = {"ttl_sidecar_build_info", MetricType::Gauge, "version",
                                          "1; the label is the version of the program."};
inline constexpr MetricInfo kScrapes = {"ttl_sidecar_scrapes_total", MetricType::Counter, "",
                                        "Number of scrapes of these metrics."};
inline constexpr MetricInfo kScrapeDuration = {
    "ttl_sidecar_last_scrape_duration_seconds", MetricType::Gauge, "",
    "Time that gathering the metrics took for the previous scrape."};
inline constexpr MetricInfo kLogLinesLost = {
    "ttl_sidecar_log_lines_lost_total", MetricType::Counter, "",
    "Log lines that were lost because standard error could not be written in time, as when nothing "
    "reads the pipe or the disk is full."};
inline constexpr MetricInfo kProcessStart = {
    "process_start_time_seconds", MetricType::Gauge, "",
    "Start of the process in Unix seconds. changes() of it counts restarts."};
inline constexpr MetricInfo kProcessCpu = {"process_cpu_seconds_total", MetricType::Counter, "",
                                           "CPU time used by all threads."};
inline constexpr MetricInfo kProcessResident = {"process_resident_memory_bytes", MetricType::Gauge,
                                                "", "Resident memory."};
inline constexpr MetricInfo kProcessVirtual = {"process_virtual_memory_bytes", MetricType::Gauge,
                                               "", "Virtual memory; much of it is never used."};
inline constexpr MetricInfo kProcessFds = {"process_open_fds", MetricType::Gauge, "",
                                           "Open file descriptors."};
inline constexpr MetricInfo kProcessMaxFds = {"process_max_fds", MetricType::Gauge, "",
                                              "Maximum number of open file descriptors."};
inline constexpr MetricInfo kProcessThreads = {"process_threads", MetricType::Gauge, "",
                                               "Threads of the process."};

}  // namespace ttl::metric

namespace ttl {

// All of them, in the order in which they are shown.
absl::Span<const MetricInfo* const> AllMetrics();

// The same as a table in Markdown, for the documents.
std::string DescribeMetrics();

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_METRIC_CATALOG_H_
