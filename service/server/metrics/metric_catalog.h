#ifndef TTL_SERVICE_SERVER_METRICS_METRIC_CATALOG_H_
#define TTL_SERVICE_SERVER_METRICS_METRIC_CATALOG_H_

#include <string>

#include "absl/types/span.h"
#include "service/server/metrics/metric_info.h"

// All metrics there are. Names and units as Prometheus wants them; counts are since the
// start of the process. Labels are bounded: "container" by --metrics-containers, with
// the rest under "other", all else by what the program knows.
namespace ttl::metric {

using prometheus::MetricType;

// Expiry: how late deletes are comes first.
inline constexpr MetricInfo kOldestDueAge = {
    "ttl_sidecar_oldest_due_age_seconds", MetricType::Gauge, "container",
    "Age of the oldest item that is due and not deleted; 0 if nothing is due. The first figure to "
    "look at: it grows by a second a second while deletes stand still, whatever the reason. "
    "ttl_sidecar_delete_hold says what holds them."};
inline constexpr MetricInfo kLateness = {
    "ttl_sidecar_delete_lateness_seconds", MetricType::Histogram, "container",
    "How long after they became due items were deleted. Expired items are hidden at once whatever "
    "this says; it is about the store's space."};
inline constexpr MetricInfo kBacklog = {
    "ttl_sidecar_backlog_items", MetricType::Gauge, "container",
    "Items that are due and not deleted, estimated from counts by time: exact unless the items of "
    "a container spread over more than about a thousand seconds, and too low after a start until "
    "ttl_sidecar_uncounted_containers is 0."};
inline constexpr MetricInfo kFailing = {
    "ttl_sidecar_failing_items", MetricType::Gauge, "container",
    "Items whose delete has failed at least once and is tried again later. ttlctl stuck lists them "
    "with the store's reasons."};
inline constexpr MetricInfo kTrackedItems = {
    "ttl_sidecar_tracked_items", MetricType::Gauge, "container",
    "Items tracked, expired ones that are not yet deleted included."};
inline constexpr MetricInfo kTrackedBytes = {
    "ttl_sidecar_tracked_bytes", MetricType::Gauge, "container",
    "Size of the tracked items, as the store reported it."};
inline constexpr MetricInfo kUncountedContainers = {
    "ttl_sidecar_uncounted_containers", MetricType::Gauge, "",
    "Containers whose items are still being counted in the background after the start. While it is "
    "not 0, backlogs and failing items are too low."};
inline constexpr MetricInfo kDeletesSent = {
    "ttl_sidecar_deletes_sent_total", MetricType::Counter, "container",
    "Deletes sent to the store: its rate is the rate of deletes used."};
inline constexpr MetricInfo kDeletes = {
    "ttl_sidecar_deletes_total", MetricType::Counter, "container,outcome",
    "Deletes by what became of them. modified is no error: the item was written meanwhile and "
    "stays. failed and throttled are tried again; of unanswered ones the store may have carried "
    "out some."};
inline constexpr MetricInfo kAllowedRate = {
    "ttl_sidecar_allowed_deletes_per_second", MetricType::Gauge, "container",
    "The rate at which deletes may be sent now: the least of limits, of what requests leave over, "
    "and of what the store was seen to bear. +Inf: no limit."};
inline constexpr MetricInfo kRequestUnits = {
    "ttl_sidecar_request_units_per_second", MetricType::Gauge, "container,kind",
    "Throughput of containers that state theirs: provisioned, and used by requests as reported. "
    "Without a report for ten seconds all of it counts as used."};
inline constexpr MetricInfo kHold = {
    "ttl_sidecar_delete_hold", MetricType::Gauge, "container,hold",
    "1 for each thing that holds deletes of a container back now; the names are those of the API. "
    "Under \"other\" only what holds all of those that have something due."};
inline constexpr MetricInfo kPaused = {
    "ttl_sidecar_deletes_paused", MetricType::Gauge, "",
    "1 while deletes of all containers are paused by an operator."};
inline constexpr MetricInfo kDeleteCalls = {
    "ttl_sidecar_delete_calls_total", MetricType::Counter, "code",
    "DeleteItems calls to the store that have ended, by status code."};
inline constexpr MetricInfo kDeleteCallDuration = {
    "ttl_sidecar_delete_call_duration_seconds", MetricType::Histogram, "",
    "How long DeleteItems calls took. If most of the last ones take twice as long as the average, "
    "fewer are sent."};
inline constexpr MetricInfo kDeleteCallsUnderWay = {
    "ttl_sidecar_delete_calls_under_way", MetricType::Gauge, "",
    "DeleteItems calls under way. At --max-calls-under-way all the time the store's answers are "
    "what limits deletes."};
inline constexpr MetricInfo kPushBacks = {
    "ttl_sidecar_push_backs_total", MetricType::Counter, "kind",
    "How often the store asked for fewer deletes, or seemed to. Each cuts the rate at once, and it "
    "grows back step by step."};
inline constexpr MetricInfo kOverdueContainers = {
    "ttl_sidecar_overdue_containers", MetricType::Gauge, "",
    "Containers whose deletes get nowhere: an item has been due for 15 minutes, none was deleted "
    "for 5, and nothing that an operator or a policy chose holds them. While it is not 0, the "
    "status is degraded, with the reasons, and the health name sweep is off."};
inline constexpr MetricInfo kSweepAge = {
    "ttl_sidecar_sweeper_step_age_seconds", MetricType::Gauge, "",
    "Time since the sweeper's last step. It takes one at least every few seconds, whatever the "
    "store does: above 30 it stands still."};

// The store and the clock.
inline constexpr MetricInfo kStoreConfigured = {
    "ttl_sidecar_store_configured", MetricType::Gauge, "",
    "1 if a primary store is configured; without one nothing is deleted."};
inline constexpr MetricInfo kStoreReachable = {"ttl_sidecar_store_reachable", MetricType::Gauge, "",
                                               "1 if the primary store answered when last asked."};
inline constexpr MetricInfo kStoreUnconfirmed = {
    "ttl_sidecar_store_unconfirmed", MetricType::Gauge, "",
    "1 while the store is in doubt: it may not be the one that the tracked items belong to. "
    "Deletes wait for ttlctl store confirm."};
inline constexpr MetricInfo kStoreSkew = {
    "ttl_sidecar_store_clock_skew_seconds", MetricType::Gauge, "",
    "Our clock minus the store's; absent until the store has told its time."};
inline constexpr MetricInfo kClockSuspect = {
    "ttl_sidecar_clock_suspect", MetricType::Gauge, "",
    "1 while our own clock is not trusted: nothing is deleted, and checks hide only what is "
    "expired by both readings."};
inline constexpr MetricInfo kClockDifference = {
    "ttl_sidecar_clock_difference_seconds", MetricType::Gauge, "",
    "The wall clock minus the steady clock. Within 5 s they agree; absent if one cannot be read."};

// Whether what is tracked is whole, and the comparison with the store.
inline constexpr MetricInfo kDataInDoubt = {
    "ttl_sidecar_data_in_doubt", MetricType::Gauge, "",
    "1 while what is tracked may not be whole: after a restore, a repair, or a start without data. "
    "Checks are judged only by the state that they carry, and nothing is deleted."};
inline constexpr MetricInfo kReconciliation = {
    "ttl_sidecar_reconciliation", MetricType::Gauge, "kind,state",
    "1 for the reconciliation or rebuild under way, or the last one since the start, and how it "
    "stands: running, waiting (it tries again; the log says why), done, failed or cancelled."};
inline constexpr MetricInfo kReconciliationScanned = {
    "ttl_sidecar_reconciliation_scanned_items", MetricType::Gauge, "",
    "Items that it has read from the store, over all containers. Begins at 0 with each one, and "
    "with a rebuild that goes on after a restart."};
inline constexpr MetricInfo kReconciliationContainers = {
    "ttl_sidecar_reconciliation_containers", MetricType::Gauge, "part",
    "Containers that it is through with (done), and that it goes through (all)."};
inline constexpr MetricInfo kReconciliationItems = {
    "ttl_sidecar_reconciliation_container_items", MetricType::Gauge, "part",
    "Items of the container under way: read so far, and how many the store estimates it has "
    "(estimated, absent if it does not say)."};

// Calls.
inline constexpr MetricInfo kCalls = {
    "ttl_sidecar_rpc_calls_total", MetricType::Counter, "method,code",
    "Calls that have ended, by method and status code. Streams count once, when they end."};
inline constexpr MetricInfo kCallDuration = {
    "ttl_sidecar_rpc_duration_seconds", MetricType::Histogram, "method",
    "How long unary calls took, from the request read to the answer handed to gRPC. Writes wait "
    "for the disk."};
inline constexpr MetricInfo kStreamsOpen = {
    "ttl_sidecar_rpc_streams_open", MetricType::Gauge, "method",
    "Streams that are open: clients that stream checks and reports, and watchers."};
inline constexpr MetricInfo kMessages = {
    "ttl_sidecar_rpc_stream_messages_total", MetricType::Counter, "method,code",
    "Messages of streams that were answered, by status code; each has its own."};
inline constexpr MetricInfo kMessageDuration = {
    "ttl_sidecar_rpc_stream_message_duration_seconds", MetricType::Histogram, "method",
    "How long messages of streams took, from read to answered."};
inline constexpr MetricInfo kChecks = {
    "ttl_sidecar_checks_total", MetricType::Counter, "verdict",
    "Visibility checks answered, by verdict: a call has many. Many untracked ones mean that "
    "reports are missing, or that stores ask about what they never reported."};
inline constexpr MetricInfo kImpossibleChecks = {
    "ttl_sidecar_impossible_checks_total", MetricType::Counter, "",
    "Checks that carried an impossible ts or ttl and were answered visible. Not 0: a client is "
    "wrong, most likely milliseconds for seconds."};
inline constexpr MetricInfo kIllegalTtls = {
    "ttl_sidecar_illegal_ttls_total", MetricType::Counter, "",
    "Reports whose illegal ttl was kept, because their container's TTL is off: such an item never "
    "expires until it is written again, also if TTL is switched on."};
inline constexpr MetricInfo kAccessRefusals = {
    "ttl_sidecar_access_refusals_total", MetricType::Counter, "role",
    "Calls refused with PERMISSION_DENIED, by the role that would have done."};
inline constexpr MetricInfo kClosedConnections = {
    "ttl_sidecar_closed_connections_total", MetricType::Counter, "reason",
    "Connections that the sidecar closed for what their clients did: too_many_connections, beyond "
    "the address's share of --max-connections; the others are of clients that break the bounds of "
    "deploy/sizing.md."};

// Writing.
inline constexpr MetricInfo kReady = {
    "ttl_sidecar_ready", MetricType::Gauge, "",
    "1 while the health service says SERVING for readiness. 0 during start and stop, and while "
    "writes are refused; the log says why."};
inline constexpr MetricInfo kWritable = {
    "ttl_sidecar_storage_writable", MetricType::Gauge, "",
    "0 after a failed write, until the database could be reopened: reports are refused and nothing "
    "is deleted; checks go on."};
inline constexpr MetricInfo kDamagedRecords = {
    "ttl_sidecar_storage_damaged_containers", MetricType::Gauge, "",
    "Containers whose record was unreadable at the start. They are left alone; the log names "
    "them."};
inline constexpr MetricInfo kCommitOperations = {
    "ttl_sidecar_commit_operations", MetricType::Histogram, "",
    "Operations that shared one commit, and so one fsync. It grows by itself under load."};
inline constexpr MetricInfo kCommitDuration = {
    "ttl_sidecar_commit_duration_seconds", MetricType::Histogram, "",
    "How long a commit took from being taken up for writing to being seen by readers."};
inline constexpr MetricInfo kCommitFailures = {
    "ttl_sidecar_commit_failures_total", MetricType::Counter, "",
    "Commits that could not be written. Their callers were told UNAVAILABLE."};
inline constexpr MetricInfo kQueued = {
    "ttl_sidecar_queued_writes", MetricType::Gauge, "place",
    "Operations that wait to be committed: reports of stores, and changes (policies, outcomes of "
    "deletes, upkeep), which go first."};
inline constexpr MetricInfo kQueueLimit = {
    "ttl_sidecar_queued_writes_limit", MetricType::Gauge, "place",
    "How many may wait; what comes then is refused with RESOURCE_EXHAUSTED."};
inline constexpr MetricInfo kQueuedBytes = {"ttl_sidecar_queued_report_bytes", MetricType::Gauge,
                                            "", "Memory of the reports that wait to be committed."};
inline constexpr MetricInfo kQueuedBytesLimit = {"ttl_sidecar_queued_report_bytes_limit",
                                                 MetricType::Gauge, "",
                                                 "How much memory waiting reports may take."};
inline constexpr MetricInfo kRefusedWrites = {
    "ttl_sidecar_refused_writes_total", MetricType::Counter, "reason",
    "Operations refused with RESOURCE_EXHAUSTED: queue_full, come again at once; disk_floor, the "
    "volume has too little free space."};
inline constexpr MetricInfo kDiskFree = {
    "ttl_sidecar_disk_free_bytes", MetricType::Gauge, "",
    "Free space of the volume of --data-dir, as last looked at; absent if it cannot be found "
    "out."};
inline constexpr MetricInfo kDiskFloor = {
    "ttl_sidecar_disk_floor_bytes", MetricType::Gauge, "place",
    "Free space below which reports, and below which changes are refused."};

// LevelDB and the cache.
inline constexpr MetricInfo kWriteDuration = {
    "ttl_sidecar_storage_write_duration_seconds", MetricType::Histogram, "",
    "How long LevelDB took to write one batch durably. What it takes longer than the fsync alone "
    "is mostly a stall: writes wait for a compaction."};
inline constexpr MetricInfo kSyncDuration = {"ttl_sidecar_storage_sync_duration_seconds",
                                             MetricType::Histogram, "",
                                             "How long the fsync of LevelDB's log took."};
inline constexpr MetricInfo kStallSeconds = {
    "ttl_sidecar_storage_stall_seconds_total", MetricType::Counter, "",
    "Time that LevelDB's writes took beyond their fsync, in all. Near the time that passes: "
    "compactions do not keep up."};
inline constexpr MetricInfo kOperations = {
    "ttl_sidecar_storage_operations_total", MetricType::Counter, "operation",
    "Operations made on LevelDB; next is a step of an iterator."};
inline constexpr MetricInfo kTableBytes = {
    "ttl_sidecar_storage_table_bytes", MetricType::Gauge, "",
    "Size of LevelDB's tables on disk, roughly; the newest writes are not in it."};
inline constexpr MetricInfo kMemoryBytes = {"ttl_sidecar_storage_memory_bytes", MetricType::Gauge,
                                            "", "Memory of LevelDB's memtables and blocks."};
inline constexpr MetricInfo kLevelFiles = {
    "ttl_sidecar_leveldb_level_files", MetricType::Gauge, "level",
    "Files of each level. From 8 at level 0 each write waits a millisecond, from 12 all wait."};
inline constexpr MetricInfo kLevelBytes = {"ttl_sidecar_leveldb_level_bytes", MetricType::Gauge,
                                           "level",
                                           "Size of each level, rounded to MiB by LevelDB."};
inline constexpr MetricInfo kCompactionSeconds = {
    "ttl_sidecar_leveldb_compaction_seconds_total", MetricType::Counter, "level",
    "Time spent on compactions into each level, rounded to seconds by LevelDB."};
inline constexpr MetricInfo kCompactionRead = {
    "ttl_sidecar_leveldb_compaction_read_bytes_total", MetricType::Counter, "level",
    "What compactions into each level have read, rounded to MiB by LevelDB."};
inline constexpr MetricInfo kCompactionWritten = {
    "ttl_sidecar_leveldb_compaction_written_bytes_total", MetricType::Counter, "level",
    "What compactions into each level have written, rounded to MiB by LevelDB."};
inline constexpr MetricInfo kCacheLookups = {
    "ttl_sidecar_cache_lookups_total", MetricType::Counter, "result",
    "Lookups in the cache of records; a miss reads LevelDB. Few hits with a full cache: more "
    "--cache-mib helps."};
inline constexpr MetricInfo kCacheEntries = {"ttl_sidecar_cache_entries", MetricType::Gauge, "",
                                             "Records in the cache."};
inline constexpr MetricInfo kCacheBytes = {"ttl_sidecar_cache_bytes", MetricType::Gauge, "",
                                           "Memory of the cache of records, estimated."};
inline constexpr MetricInfo kCacheLimit = {"ttl_sidecar_cache_limit_bytes", MetricType::Gauge, "",
                                           "What the cache may take."};

// The process.
inline constexpr MetricInfo kBuildInfo = {"ttl_sidecar_build_info", MetricType::Gauge, "version",
                                          "1; the label says which version runs."};
inline constexpr MetricInfo kScrapes = {"ttl_sidecar_scrapes_total", MetricType::Counter, "",
                                        "How often these metrics were gathered."};
inline constexpr MetricInfo kScrapeDuration = {"ttl_sidecar_last_scrape_duration_seconds",
                                               MetricType::Gauge, "",
                                               "How long gathering them took the time before."};
inline constexpr MetricInfo kLogLinesLost = {
    "ttl_sidecar_log_lines_lost_total", MetricType::Counter, "",
    "Lines of the log that were lost because standard error could not be written to in time, as "
    "when nobody reads the pipe or the disk is full."};
inline constexpr MetricInfo kProcessStart = {
    "process_start_time_seconds", MetricType::Gauge, "",
    "Start of the process, in seconds since 1970. changes() of it counts restarts."};
inline constexpr MetricInfo kProcessCpu = {"process_cpu_seconds_total", MetricType::Counter, "",
                                           "Processor time used, of all threads."};
inline constexpr MetricInfo kProcessResident = {"process_resident_memory_bytes", MetricType::Gauge,
                                                "", "Memory that is really there."};
inline constexpr MetricInfo kProcessVirtual = {
    "process_virtual_memory_bytes", MetricType::Gauge, "",
    "Memory that is mapped; much of it is never touched."};
inline constexpr MetricInfo kProcessFds = {"process_open_fds", MetricType::Gauge, "",
                                           "File descriptors in use."};
inline constexpr MetricInfo kProcessMaxFds = {"process_max_fds", MetricType::Gauge, "",
                                              "File descriptors allowed."};
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
