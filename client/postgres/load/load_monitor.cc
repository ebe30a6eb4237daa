#include "client/postgres/load/load_monitor.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/group.h"
#include "service/base/mutex.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// A sample that takes longer is aborted, and its connection closed.
constexpr absl::Duration kSampleTimeout = absl::Seconds(4);

absl::Duration SteadyNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// Rows touched in the tables $1, including their partitions, by the numbers in $2. The functions
// read only these tables; the statistics views would first compute the whole database.
constexpr char kUsageStatement[] =
    "SELECT sum(coalesce((SELECT sum(pg_stat_get_tuples_inserted(p.relid) "
    "+ pg_stat_get_tuples_updated(p.relid) + pg_stat_get_tuples_deleted(p.relid) "
    "+ pg_stat_get_tuples_returned(p.relid) + pg_stat_get_tuples_fetched(p.relid) "
    "+ coalesce((SELECT sum(pg_stat_get_tuples_fetched(indexrelid)) FROM pg_index "
    "WHERE indrelid = p.relid), 0)) "
    "FROM (SELECT relid::oid FROM pg_partition_tree(a.root) UNION SELECT a.root) AS p), "
    "0))::bigint "
    "FROM unnest($1::oid[], $2::bigint[]) AS a(root, n) GROUP BY a.n ORDER BY a.n";

// Excludes our own backends. The state of other roles' backends is visible only to
// pg_read_all_stats.
constexpr char kActivityStatement[] =
    "SELECT count(*) FILTER (WHERE state = 'active' AND backend_type = 'client backend'), "
    "count(*) FILTER (WHERE query = '<insufficient privilege>') "
    "FROM pg_stat_activity WHERE application_name NOT LIKE 'ttl-postgres%'";

}  // namespace

LoadMonitor::LoadMonitor(const Config& config, const std::vector<TableDefinition>& tables,
                         Parts parts, WallClock clock)
    : parts_(std::move(parts)),
      clock_(std::move(clock)),
      counts_backends_(config.max_active_backends > 0),
      tables_(Watch(tables)),
      pool_({config.database, "ttl-postgres load", 1,
             absl::StrCat("SET statement_timeout = ", absl::ToInt64Milliseconds(kSampleTimeout),
                          "; SET jit = off; ", Connection::kSystemNamesOnly)},
            clock_),
      judge_({config.max_latency, config.max_active_backends}, SteadyNow()),
      loop_(wake_, [this] {
        Step();
        return parts_.interval;
      }) {}

// Ends a running sample.
LoadMonitor::~LoadMonitor() { pool_.Close(); }

std::vector<LoadMonitor::Watched> LoadMonitor::Watch(const std::vector<TableDefinition>& tables) {
  std::vector<Watched> all;
  for (const TableDefinition& table : tables) {
    Watched& watched = all.emplace_back();
    watched.container = table.config.container;
    for (const TableDefinition* one : TablesOf(table)) watched.oids.push_back(one->oid);
  }
  return all;
}

std::optional<absl::Duration> LoadMonitor::YieldFor() const {
  const MutexLock lock(mutex_);
  if (!judge_.ShouldYield(SteadyNow())) return std::nullopt;
  return parts_.interval;  // until the next sample
}

LoadState LoadMonitor::state() const {
  const MutexLock lock(mutex_);
  const LoadSample median = judge_.Median();
  return {median.latency, median.active_backends, judge_.ShouldYield(SteadyNow()),
          samples_,       failed_samples_,        last_error_};
}

void LoadMonitor::Step() {
  const absl::Status status = TakeSample();
  const MutexLock lock(mutex_);
  ++(status.ok() ? samples_ : failed_samples_);
  last_error_ = std::string(status.message());
}

absl::Status LoadMonitor::TakeSample() {
  TTL_ASSIGN_OR_RETURN(auto lease, pool_.Take(clock_() + kSampleTimeout));
  TTL_ASSIGN_OR_RETURN(const auto activity, AskActivity(*lease));
  {
    const MutexLock lock(mutex_);
    judge_.Add(activity.sample, SteadyNow());
  }
  TTL_RETURN_IF_ERROR(AskUsage(*lease));
  if (!counts_backends_ || !activity.is_partly_hidden) return absl::OkStatus();
  return absl::PermissionDeniedError(
      "max_active_backends counts only some: backends of other roles are hidden from us; "
      "GRANT pg_read_all_stats to our role shows them");
}

absl::StatusOr<LoadMonitor::Activity> LoadMonitor::AskActivity(Connection& connection) {
  Activity activity;
  const absl::Duration asked = SteadyNow();
  TTL_RETURN_IF_ERROR(connection.Query("SELECT 1").status());
  activity.sample.latency = SteadyNow() - asked;
  TTL_ASSIGN_OR_RETURN(const auto counted, connection.Query(kActivityStatement));
  activity.sample.active_backends = counted.Number(0, 0);
  activity.is_partly_hidden = counted.Number(0, 1) > 0;
  return activity;
}

absl::Status LoadMonitor::AskUsage(Connection& connection) {
  ArrayText oids;
  ArrayText numbers;
  for (size_t i = 0; i < tables_.size(); ++i) {
    for (const uint32_t oid : tables_[i].oids) {
      oids.Add(int64_t{oid});
      numbers.Add(static_cast<int64_t>(i));
    }
  }
  TTL_ASSIGN_OR_RETURN(const auto answer,
                       connection.Query(kUsageStatement, {oids.Take(), numbers.Take()}));
  for (size_t i = 0; i < tables_.size(); ++i) {
    Watched& table = tables_[i];
    const absl::Duration now = SteadyNow();
    // Read our count after the statistics, so that it has all of our rows that are in them.
    const int64_t used = table.meter.Read(answer.Number(static_cast<int>(i), 0),
                                          parts_.own_rows(table.container), now - table.read);
    table.read = now;
    parts_.add_usage(table.container, static_cast<double>(used));
  }
  return absl::OkStatus();
}

}  // namespace ttl::postgres
