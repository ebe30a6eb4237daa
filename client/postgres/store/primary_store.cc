#include "client/postgres/store/primary_store.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/store/deletes/delete_pause.h"
#include "client/postgres/store/deletes/delete_run.h"
#include "client/postgres/store/missing_rows.h"
#include "client/postgres/store/table_scan.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"
#include "ttl/proto_time.h"

namespace ttl::postgres {
namespace {

// A connection is closed this long after its call's deadline; the server's own timeouts should end
// the statement earlier.
constexpr absl::Duration kCutMargin = absl::Seconds(1);
// Maximum durations of calls, also without a deadline.
constexpr absl::Duration kMaxDelete = absl::Seconds(60);
constexpr absl::Duration kMaxScan = absl::Hours(1);
constexpr absl::Duration kMaxPiece = absl::Seconds(20);
// Pause between looks for condemned groups if there are none, or none can be deleted.
constexpr absl::Duration kIdlePause = absl::Seconds(1);
// A transaction of ours that is idle for this long belongs to a hung process.
constexpr absl::Duration kIdleTimeout = absl::Seconds(10);
constexpr absl::Duration kVisiblePollInterval = absl::Milliseconds(20);
// Time reserved for the answer to reach the sidecar before its deadline.
constexpr absl::Duration kAnswerTime = absl::Milliseconds(200);
constexpr int64_t kSlowSaidEvery = 60;  // seconds
constexpr uint64_t kNeverReported = std::numeric_limits<uint64_t>::max();

// row_security: a query that a policy would filter fails instead. jit: compiling takes longer than
// these statements do.
constexpr absl::string_view kSessionSettings =
    "SET row_security = off; SET jit = off; SET default_transaction_isolation = 'read committed'; "
    "SET statement_timeout = $0; SET lock_timeout = $1; "
    "SET idle_in_transaction_session_timeout = $2";

ConnectionPoolOptions PoolOptions(const Config& config, absl::string_view name, size_t size,
                                  absl::Duration statement_timeout) {
  const auto milliseconds = [](absl::Duration duration) {
    return std::max<int64_t>(absl::ToInt64Milliseconds(duration), 1);
  };
  return {config.database, absl::StrCat("ttl-postgres ", name), size,
          absl::Substitute(kSessionSettings, milliseconds(statement_timeout),
                           milliseconds(config.lock_timeout), milliseconds(kIdleTimeout))};
}

ConnectionPoolOptions ScanPoolOptions(const Config& config) {
  ConnectionPoolOptions options = PoolOptions(config, "scan", 1, absl::Minutes(1));
  absl::StrAppend(&options.setup, "; ", Connection::kSystemNamesOnly);
  return options;
}

absl::Status Validate(const v1::DeleteItemsRequest& request) {
  if (!request.has_not_after()) return absl::InvalidArgumentError("not_after is missing");
  if (request.items_size() < 1 || request.items_size() > PrimaryStore::kMaxBatchItems) {
    return absl::InvalidArgumentError(absl::StrCat("items has ", request.items_size(),
                                                   " entries; 1 to ", PrimaryStore::kMaxBatchItems,
                                                   " are allowed"));
  }
  return absl::OkStatus();
}

void SetRetryAfter(absl::Duration retry_after, v1::DeleteItemsResponse& response) {
  const int64_t nanos = absl::ToInt64Nanoseconds(retry_after);
  response.mutable_retry_after()->set_seconds(nanos / 1'000'000'000);
  response.mutable_retry_after()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
}

bool HasThrottled(const v1::DeleteItemsResponse& response) {
  return std::any_of(response.results().begin(), response.results().end(), [](const auto& result) {
    return result.outcome() == v1::DELETE_OUTCOME_THROTTLED;
  });
}

bool IsOutOfTime(const v1::DeleteResult& result) {
  return result.outcome() == v1::DELETE_OUTCOME_THROTTLED &&
         result.throttle_reason() == v1::THROTTLE_REASON_OUT_OF_TIME;
}

v1::DeleteItemsResponse AllThrottled(int items, absl::Duration retry_after) {
  v1::DeleteItemsResponse response;
  for (int i = 0; i < items; ++i) {
    response.add_results()->set_outcome(v1::DELETE_OUTCOME_THROTTLED);
  }
  SetRetryAfter(retry_after, response);
  response.set_request_charge(0);
  return response;
}

constexpr char kStoreIdColumns[] =
    "system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database())";

std::string StoreIdOf(const QueryResult& answer) {
  return absl::StrCat("postgresql/", answer.Text(0, 0), "/", answer.Text(0, 1));
}

// The address may now lead to another database than the one that the sidecar knew. An older
// sidecar, which sends no store_id, is not checked.
absl::Status CheckStoreId(Connection& connection, const std::string& expected) {
  if (expected.empty()) return absl::OkStatus();
  const auto answer =
      connection.Query(absl::StrCat("SELECT ", kStoreIdColumns, " FROM pg_control_system()"));
  if (!answer.ok()) {
    return absl::UnavailableError(absl::StrCat("the database: ", answer.status().message()));
  }
  if (StoreIdOf(*answer) == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("store_id is \"", absl::CHexEscape(expected),
                                                    "\": this store is \"", StoreIdOf(*answer),
                                                    "\""));
}

// Without a _ts, only its sequence tells that a row version is older than the one that the sidecar
// has, so rows are not returned before there is a sequence.
uint64_t LeastPosition(const TableDefinition& table) {
  return table.ts_source == TsSource::kNone ? 1 : 0;
}

// Describes the transaction that has been open longest.
std::string OldestTransaction(Connection& connection) {
  const auto answer = connection.Query(
      "SELECT words FROM (SELECT xact_start AS since, format('transaction %s of backend %s (%s, "
      "%s, application \"%s\"), open since %s', backend_xid, pid, usename, state, "
      "application_name, xact_start) AS words FROM pg_stat_activity "
      "WHERE backend_xid IS NOT NULL UNION ALL "
      "SELECT prepared, format('prepared transaction \"%s\" of %s, since %s', gid, owner, "
      "prepared) "
      "FROM pg_prepared_xacts) AS open ORDER BY since LIMIT 1");
  if (!answer.ok()) return absl::StrCat("unknown: ", answer.status().message());
  return answer->rows() == 0 ? "none that we may see; GRANT pg_read_all_stats shows more"
                             : std::string(answer->Text(0, 0));
}

}  // namespace

PrimaryStore::Served::Served(const TableDefinition& definition) : table(definition) {
  if (table.group_sql.has_value() && !definition.own_schema.empty()) {
    pieces.emplace(table.definition, *table.group_sql);
  }
}

PrimaryStore::PrimaryStore(const Config& config, const std::vector<TableDefinition>& tables,
                           const VisiblePosition& position, YieldRule yield_rule,
                           ReportedRule reported_rule, WallClock clock)
    : lock_timeout_(config.lock_timeout),
      statement_timeout_(config.statement_timeout),
      position_(position),
      yield_rule_(std::move(yield_rule)),
      reported_rule_(std::move(reported_rule)),
      clock_(std::move(clock)),
      deletes_(PoolOptions(config, "deletes", kDeleteConnections, config.statement_timeout),
               clock_),
      scans_(ScanPoolOptions(config), clock_) {
  for (const TableDefinition& table : tables) {
    tables_.emplace(table.config.container, std::make_unique<Served>(table));
  }
  for (const TableConfig& table : config.tables) {
    if (!tables_.contains(table.container)) left_out_.insert(table.container);
  }
}

absl::StatusOr<v1::GetStoreInfoResponse> PrimaryStore::GetStoreInfo(absl::Time deadline) {
  TTL_ASSIGN_OR_RETURN(auto lease,
                       deletes_.Take(std::min(deadline, clock_() + kMaxDelete) + kCutMargin));
  const auto answer = lease->Query(
      absl::StrCat("SELECT ", kStoreIdColumns,
                   ", floor(extract(epoch FROM clock_timestamp()) * 1000000::numeric)::bigint "
                   "FROM pg_control_system()"));
  if (!answer.ok()) {
    return absl::UnavailableError(absl::StrCat("the database: ", answer.status().message()));
  }
  v1::GetStoreInfoResponse response;
  response.set_store_id(StoreIdOf(*answer));
  *response.mutable_now() = ToTimestamp(absl::FromUnixMicros(answer->Number(0, 2)));
  response.set_max_batch_items(kMaxBatchItems);
  response.add_capabilities(v1::STORE_CAPABILITY_ETAG);
  response.add_capabilities(v1::STORE_CAPABILITY_SCAN);
  response.add_capabilities(v1::STORE_CAPABILITY_EXPIRE_AT);
  return response;
}

absl::StatusOr<v1::DeleteItemsResponse> PrimaryStore::DeleteItems(
    const v1::DeleteItemsRequest& request, absl::Time deadline) {
  TTL_ASSIGN_OR_RETURN(Served* const served, Find(request.container()));
  TTL_RETURN_IF_ERROR(Validate(request));
  StoreCounters& counters = served->counters;
  auto response = DeleteFrom(*served, request, deadline);
  if (!response.ok()) {
    ++counters.failed_calls;
    return response;
  }
  Count(*served, *response);
  return response;
}

void PrimaryStore::Count(Served& served, const v1::DeleteItemsResponse& response) {
  int64_t out_of_time = 0;
  for (const v1::DeleteResult& result : response.results()) {
    if (IsOutOfTime(result)) {
      ++out_of_time;
    } else {
      ++served.counters.outcomes[result.outcome()];
    }
  }
  served.counters.out_of_time += out_of_time;
  const int64_t now = absl::ToUnixSeconds(clock_());
  if (out_of_time == 0 || now - served.slow_said_at < kSlowSaidEvery) return;
  served.slow_said_at = now;
  spdlog::warn(
      "deletes are slow: container=\"{}\" put_off={} of={} reason=\"the time of the call was used "
      "up; they go on in smaller transactions; ttl-postgres check names foreign keys without an "
      "index\"",
      absl::CHexEscape(served.table.definition.config.container), out_of_time,
      response.results_size());
}

absl::StatusOr<v1::DeleteItemsResponse> PrimaryStore::DeleteFrom(
    Served& served, const v1::DeleteItemsRequest& request, absl::Time deadline) {
  if (const auto retry_after = yield_rule_(); retry_after.has_value()) {
    ++served.counters.yielded_calls;
    return AllThrottled(request.items_size(), *retry_after);
  }
  deadline = std::min(deadline, clock_() + kMaxDelete);
  uint64_t gone_by = 0;
  auto response = RunDeletes(served, request, deadline, gone_by);
  if (response.ok() && !AwaitReported(gone_by, deadline)) PutOffMissing(*response);
  return response;
}

absl::StatusOr<v1::DeleteItemsResponse> PrimaryStore::RunDeletes(
    Served& served, const v1::DeleteItemsRequest& request, absl::Time deadline, uint64_t& gone_by) {
  TTL_ASSIGN_OR_RETURN(auto lease, deletes_.Take(deadline + kCutMargin));
  TTL_RETURN_IF_ERROR(CheckStoreId(*lease, request.store_id()));
  DeleteRun run(*lease, served.table,
                {lock_timeout_, statement_timeout_, deadline, ToTime(request.not_after()),
                 position_.Get(), clock_},
                request, served.fit, served.large);
  const absl::Time began = clock_();
  auto response = run.Run();
  served.counters.rows_touched += run.rows_touched();
  served.counters.overruns += run.overruns();
  // The sidecar chooses the retry delay of throttled items: it backs off.
  if (response.ok() && !HasThrottled(*response)) {
    SetRetryAfter(DeletePause(clock_() - began), *response);
  }
  if (response.ok() && HasMissing(*response)) {
    const auto position = FlushMissing(*lease);
    gone_by = position.value_or(kNeverReported);
    if (!position.ok()) lease.Drop();
  }
  // The connection may be inside a transaction.
  if (!response.ok()) lease.Drop();
  return response;
}

absl::Duration PrimaryStore::DeletePieces() {
  const std::optional<absl::Duration> yields = yield_rule_();
  absl::Duration pause;  // the sum of those after each piece
  bool is_idle = true;
  for (const auto& [container, served] : tables_) {
    if (!served->pieces.has_value()) continue;
    const absl::StatusOr<Worked> worked =
        yields.has_value() ? CountCondemned(*served) : DeletePiece(*served);
    if (!worked.ok()) {
      TellPiecesFail(container, worked.status());
      continue;
    }
    pause += DeletePause(worked->time);
    is_idle = is_idle && worked->is_idle;
  }
  if (yields.has_value()) return *yields;
  return is_idle ? std::max(pause, kIdlePause) : pause;
}

void PrimaryStore::TellPiecesFail(absl::string_view container, const absl::Status& status) {
  const int64_t now = absl::ToUnixSeconds(clock_());
  if (is_closed_ || now - pieces_said_at_ < kSlowSaidEvery) return;
  pieces_said_at_ = now;
  spdlog::warn("pieces of condemned groups are not deleted: container=\"{}\" reason=\"{}\"",
               absl::CHexEscape(container), absl::CHexEscape(status.message()));
}

absl::StatusOr<PrimaryStore::Worked> PrimaryStore::CountCondemned(Served& served) {
  TTL_ASSIGN_OR_RETURN(auto lease, deletes_.Take(clock_() + kMaxPiece));
  const auto groups = served.pieces->Count(*lease);
  if (!groups.ok()) {
    lease.Drop();
    return groups.status();
  }
  served.counters.condemned_groups = *groups;
  return Worked();
}

absl::StatusOr<PrimaryStore::Worked> PrimaryStore::DeletePiece(Served& served) {
  TTL_ASSIGN_OR_RETURN(auto lease, deletes_.Take(clock_() + kMaxPiece));
  const absl::Time began = clock_();
  const auto piece = served.pieces->DeleteOne(*lease, {lock_timeout_, statement_timeout_, clock_},
                                              served.piece_fit);
  if (!piece.ok()) {
    lease.Drop();
    return piece.status();
  }
  served.counters.condemned_groups = piece->groups - (piece->is_gone ? 1 : 0);
  served.counters.condemned_rows += piece->rows;
  served.counters.rows_touched += 2 * piece->rows;
  served.counters.overruns += piece->is_over ? 1 : 0;
  if (piece->groups == 0) return Worked();
  return Worked{clock_() - began, piece->is_stuck};
}

bool PrimaryStore::AwaitReported(uint64_t lsn, absl::Time deadline) const {
  const absl::Time give_up = std::min(deadline - kAnswerTime, clock_() + kMaxReportWait);
  while (reported_rule_() < lsn) {
    if (clock_() >= give_up) return false;
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(kVisiblePollInterval));
  }
  return true;
}

absl::Status PrimaryStore::ScanItems(const v1::ScanItemsRequest& request, absl::Time deadline,
                                     absl::FunctionRef<bool()> is_cancelled,
                                     absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take) {
  TTL_ASSIGN_OR_RETURN(Served* const served, Find(request.container()));
  deadline = std::min(deadline, clock_() + kMaxScan);
  TTL_ASSIGN_OR_RETURN(auto lease, scans_.Take(deadline + kCutMargin));
  TTL_RETURN_IF_ERROR(
      AwaitVisible(*lease, LeastPosition(served->table.definition), deadline, is_cancelled));
  TableScan scan(*lease, served->table, position_, clock_);
  absl::Status status = scan.Run(request, take);
  served->counters.rows_scanned += scan.rows();
  served->counters.rows_untrackable += scan.untrackable();
  return status;
}

absl::Status PrimaryStore::AwaitVisible(Connection& connection, uint64_t least, absl::Time deadline,
                                        absl::FunctionRef<bool()> is_cancelled) {
  const uint64_t known = std::max(position_.acknowledged(), least);
  const absl::Time give_up = std::min(deadline, clock_() + kMaxVisibleWait);
  while (position_.Get() < known) {
    if (is_cancelled()) return absl::CancelledError("the call was cancelled");
    if (clock_() >= give_up) {
      return absl::UnavailableError(
          absl::StrCat("the database does not yet show all that the sidecar knows; in its way is ",
                       OldestTransaction(connection)));
    }
    // The position is updated about once a second, without a notification.
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(kVisiblePollInterval));
  }
  return absl::OkStatus();
}

absl::StatusOr<PrimaryStore::Served*> PrimaryStore::Find(const std::string& container) {
  const auto found = tables_.find(container);
  if (found != tables_.end()) return found->second.get();
  if (left_out_.contains(container)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the table of container \"", container,
                     "\" cannot be followed and is left out; the log says why"));
  }
  std::vector<absl::string_view> known;
  for (const auto& [name, served] : tables_) known.push_back(name);
  return absl::NotFoundError(absl::StrCat("container \"", container,
                                          "\" is not a table of ttl-postgres; its containers are ",
                                          absl::StrJoin(known, ", ")));
}

const StoreCounters* PrimaryStore::CountersOf(absl::string_view container) const {
  const auto found = tables_.find(std::string(container));
  return found == tables_.end() ? nullptr : &found->second->counters;
}

void PrimaryStore::Close() {
  is_closed_ = true;
  deletes_.Close();
  scans_.Close();
}

}  // namespace ttl::postgres
