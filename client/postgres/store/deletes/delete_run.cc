#include "client/postgres/store/deletes/delete_run.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/row/row_item.h"
#include "client/postgres/row/row_key.h"
#include "client/postgres/sql/archive_fit.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/group_cascades.h"
#include "client/postgres/store/deletes/delete_fault.h"
#include "client/postgres/store/deletes/delete_sql.h"
#include "client/postgres/store/deletes/system_names.h"
#include "client/postgres/store/row_state.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"
#include "ttl/proto_time.h"

namespace ttl::postgres {
namespace {

// A transaction is not started if less time than this remains.
constexpr absl::Duration kLeastTime = absl::Milliseconds(20);
// Retry delay of a container after a whole batch took too long, or its table was locked.
constexpr absl::Duration kRetryAfter = absl::Seconds(1);
// Groups that one transaction locks at most: writers of these and of others that share a lock wait
// for its end.
constexpr size_t kMaxGroups = 100;
// Groups whose lock a call waits for, each for lock_timeout at most.
constexpr size_t kMaxTurns = 5;
// Cost of each row in the statistics: it is found by the index, and then deleted or read.
constexpr int64_t kTouchedByDelete = 2;
constexpr int64_t kTouchedOtherwise = 2;
constexpr char kHasNewerRows[] =
    "the group takes longer than statement_timeout, and is not condemned: a row of it is newer "
    "than a transaction that is open on the server";

absl::Status Unavailable(const absl::Status& error) {
  return absl::UnavailableError(absl::StrCat("the database: ", error.message()));
}

// The column texts of an item's key; absent if no row of the table can have it.
std::optional<std::vector<std::string>> KeyTexts(const TableDefinition& table,
                                                 const v1::ExpiredItem& item) {
  auto key = SplitKey(item.partition_key(), table.partition_key.size());
  auto id = SplitKey(item.id(), table.id.size());
  if (!key.ok() || !id.ok()) return std::nullopt;
  key->insert(key->end(), id->begin(), id->end());
  // A PostgreSQL text cannot contain a zero byte: it would be cut there.
  const auto has_zero = [](const std::string& text) {
    return text.find('\0') != std::string::npos;
  };
  if (std::any_of(key->begin(), key->end(), has_zero)) return std::nullopt;
  return *std::move(key);
}

std::vector<AskedItem> PossibleRows(const TableDefinition& table,
                                    const v1::DeleteItemsRequest& request) {
  std::vector<AskedItem> asked;
  for (int i = 0; i < request.items_size(); ++i) {
    auto key = KeyTexts(table, request.items(i));
    if (key.has_value()) asked.push_back({i, *std::move(key), &request.items(i)});
  }
  return asked;
}

std::vector<size_t> PlacesOfDeleted(const std::vector<v1::DeleteResult>& results) {
  std::vector<size_t> places;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].outcome() == v1::DELETE_OUTCOME_DELETED) places.push_back(i);
  }
  return places;
}

}  // namespace

DeleteRun::DeleteRun(Connection& connection, const StoreTable& table, const DeleteBounds& bounds,
                     const v1::DeleteItemsRequest& request, BatchFit& fit, LargeGroups& large)
    : connection_(connection),
      table_(table),
      bounds_(bounds),
      request_(request),
      fit_(fit),
      large_(large),
      asked_(PossibleRows(table.definition, request)) {}

absl::StatusOr<v1::DeleteItemsResponse> DeleteRun::Run() {
  const auto& archive = table_.definition.archive;
  if (archive.has_value() && !archive->unfit.empty()) {
    archive_fault_ = ReasonOf(archive->unfit.front());
  }
  for (int i = 0; i < request_.items_size(); ++i) {
    response_.add_results()->set_outcome(v1::DELETE_OUTCOME_NOT_FOUND);
  }
  Items left = asked_;
  while (!left.empty()) {
    const Items next = left.subspan(0, NextSize(left));
    TTL_RETURN_IF_ERROR(Delete(next));
    left.remove_prefix(next.size());
  }
  TTL_RETURN_IF_ERROR(AwaitTurns());
  if (store_now_.has_value()) *response_.mutable_store_now() = ToTimestamp(*store_now_);
  response_.set_request_charge(static_cast<double>(rows_touched_));
  return std::move(response_);
}

// A group that took too long is tried alone, so that it does not make others be tried twice.
size_t DeleteRun::NextSize(Items left) const {
  if (!table_.group_sql.has_value()) return std::min(left.size(), fit_.max_rows());
  const size_t most = std::min({left.size(), kMaxGroups, fit_.max_rows()});
  size_t size = 0;
  while (size < most && large_.Tries(left[size].key) == 0) ++size;
  return std::max<size_t>(size, 1);
}

// Where writers hold all locks all the time, none is free when it is tried. Each call begins at
// another group, so that a transaction that stays open holds up only its own.
absl::Status DeleteRun::AwaitTurns() {
  if (contended_.empty()) return absl::OkStatus();
  awaits_lock_ = true;
  const size_t first = static_cast<size_t>(absl::ToUnixMicros(bounds_.clock())) % contended_.size();
  for (size_t i = 0; i < std::min(kMaxTurns, contended_.size()); ++i) {
    const size_t place = (first + i) % contended_.size();
    TTL_RETURN_IF_ERROR(Delete(Items(contended_).subspan(place, 1)));
  }
  return absl::OkStatus();
}

absl::Status DeleteRun::Delete(Items items) {
  if (items.empty()) return absl::OkStatus();
  if (is_given_up_ || TimeLeft() < kLeastTime) {
    SetAllThrottled(
        items, is_given_up_ ? v1::THROTTLE_REASON_UNSPECIFIED : v1::THROTTLE_REASON_OUT_OF_TIME);
    return absl::OkStatus();
  }
  if (!archive_fault_.empty()) {
    FailAll(items, archive_fault_);
    return absl::OkStatus();
  }
  const bool is_large =
      items.size() == 1 && CanCondemn() && large_.Tries(items.front().key) >= LargeGroups::kTries;
  if (is_large) return Condemn(items.front());
  const absl::Time began = bounds_.clock();
  const absl::Status error = Attempt(items);
  if (error.ok()) {
    if (bounds_.clock() - began < bounds_.statement_timeout / 2) fit_.FittedEasily(items.size());
    return absl::OkStatus();
  }
  if (!connection_.is_open() || FaultOf(error) == DeleteFault::kDatabase) return Unavailable(error);
  TTL_RETURN_IF_ERROR(Rollback());
  TTL_RETURN_IF_ERROR(ProbeTable(FaultOf(error)));
  if (!archive_fault_.empty()) return Delete(items);
  const bool is_blamed = items.size() == 1 && !is_given_up_;
  return is_blamed ? Blame(items.front(), error) : DeleteHalves(items, error);
}

absl::Status DeleteRun::DeleteHalves(Items items, const absl::Status& error) {
  if (FaultOf(error) == DeleteFault::kTimeout) {
    ++overruns_;
    fit_.Overran(items.size());
    if (items.size() == asked_.size()) SetRetryAfter();
  }
  const size_t half = items.size() / 2;
  TTL_RETURN_IF_ERROR(Delete(items.subspan(0, half)));
  return Delete(items.subspan(half));
}

absl::Status DeleteRun::DeleteOthers(Items items) {
  const std::set<size_t> refused = std::move(refused_);
  std::vector<AskedItem> others;
  for (size_t i = 0; i < items.size(); ++i) {
    if (refused.contains(i)) {
      FailAll(items.subspan(i, 1), refusal_);
    } else {
      others.push_back(items[i]);
    }
  }
  return Delete(others);
}

absl::Status DeleteRun::Blame(const AskedItem& item, const absl::Status& error) {
  v1::DeleteResult& result = ResultOf(item);
  const DeleteFault fault = FaultOf(error);
  // These errors do not concern the row itself.
  if (fault == DeleteFault::kConflict || (fault == DeleteFault::kTimeout && is_cut_short_)) {
    result.set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    if (fault == DeleteFault::kTimeout && TimeLeft() < kLeastTime) {
      result.set_throttle_reason(v1::THROTTLE_REASON_OUT_OF_TIME);
    }
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(const bool can_be_key, CanBeKey(item));
  if (!can_be_key) return absl::OkStatus();  // stays NOT_FOUND
  if (is_too_large_ && CanCondemn()) {
    large_.Overran(item.key);
    if (large_.Tries(item.key) >= LargeGroups::kTries) return Condemn(item);
    result.set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    return absl::OkStatus();
  }
  result.set_outcome(v1::DELETE_OUTCOME_FAILED);
  result.set_reason(ReasonOf(error));
  if (is_too_large_ && table_.group_sql->is_under_row_security()) {
    result.mutable_reason()->append(
        "; a group under row_level_security is not condemned: raise statement_timeout");
  }
  return absl::OkStatus();
}

bool DeleteRun::HasEntries() const {
  return table_.group_sql.has_value() && !table_.definition.own_schema.empty();
}

bool DeleteRun::CanCondemn() const {
  return HasEntries() && !table_.group_sql->is_under_row_security();
}

absl::Status DeleteRun::Condemn(const AskedItem& item) {
  is_condemning_ = true;
  const absl::Status error = Attempt(Items(&item, 1));
  is_condemning_ = false;
  if (error.ok()) return absl::OkStatus();
  if (!connection_.is_open() || FaultOf(error) == DeleteFault::kDatabase) return Unavailable(error);
  TTL_RETURN_IF_ERROR(Rollback());
  v1::DeleteResult& result = ResultOf(item);
  const bool is_timeout = FaultOf(error) == DeleteFault::kTimeout;
  if (FaultOf(error) == DeleteFault::kConflict || (is_timeout && is_cut_short_)) {
    result.set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    return absl::OkStatus();
  }
  result.set_outcome(v1::DELETE_OUTCOME_FAILED);
  result.set_reason(ReasonOf(error));
  if (is_timeout) {
    result.mutable_reason()->append(
        "; the rows of a group must be read within statement_timeout: raise it");
  }
  return absl::OkStatus();
}

absl::Status DeleteRun::Attempt(Items items) {
  TTL_ASSIGN_OR_RETURN(const bool in_time, Begin());
  if (!in_time) {
    SetAllThrottled(items, v1::THROTTLE_REASON_UNSPECIFIED);
    return Rollback();
  }
  int deleted = 0;
  is_rewritten_ = false;
  is_archive_changed_ = false;
  refused_.clear();
  unlocked_.clear();
  condemned_.clear();
  is_too_large_ = false;
  TTL_ASSIGN_OR_RETURN(std::vector<v1::DeleteResult> results,
                       table_.group_sql.has_value() ? DeleteAndExplainGroups(items, deleted)
                                                    : DeleteAndExplain(items, deleted));
  if (is_archive_changed_) {
    TTL_RETURN_IF_ERROR(Rollback());
    TTL_RETURN_IF_ERROR(ExplainArchive(absl::OkStatus()));
    return Delete(items);
  }
  // Do not commit a trigger's change together with the deletes of other rows.
  if (is_rewritten_ && items.size() > 1) {
    TTL_RETURN_IF_ERROR(Rollback());
    return refused_.size() * 2 >= items.size() ? DeleteOthers(items)
                                               : DeleteHalves(items, absl::OkStatus());
  }
  TTL_RETURN_IF_ERROR(Finish(results, deleted + static_cast<int>(condemned_.size())));
  if (!awaits_lock_) {
    for (const size_t place : unlocked_) {
      const bool is_throttled = results[place].outcome() == v1::DELETE_OUTCOME_THROTTLED;
      if (is_throttled) contended_.push_back(items[place]);
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    ResultOf(items[i]) = std::move(results[i]);
    if (table_.group_sql.has_value()) NoteEnd(items[i]);
  }
  TellCondemned(items);
  return absl::OkStatus();
}

void DeleteRun::NoteEnd(const AskedItem& item) {
  const v1::DeleteOutcome outcome = ResultOf(item).outcome();
  if (outcome != v1::DELETE_OUTCOME_THROTTLED && outcome != v1::DELETE_OUTCOME_FAILED) {
    large_.Forget(item.key);
  }
}

void DeleteRun::TellCondemned(Items items) {
  for (const size_t place : condemned_) {
    // Finish() takes it back after not_after.
    if (ResultOf(items[place]).outcome() != v1::DELETE_OUTCOME_DELETED) continue;
    spdlog::info("group is condemned, and deleted in pieces: container=\"{}\" key=\"{}\"",
                 absl::CHexEscape(table_.definition.config.container),
                 absl::CHexEscape(absl::StrJoin(items[place].key, ", ")));
  }
}

absl::StatusOr<bool> DeleteRun::Begin() {
  // READ COMMITTED, whatever the default: each statement must see the current rows.
  const std::string begin = absl::Substitute(
      "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; $3"
      "SELECT set_config('lock_timeout', '$0', true), set_config('statement_timeout', t::text, "
      "true), t, floor(extract(epoch FROM clock_timestamp()) * 1000000::numeric)::bigint "
      "FROM (SELECT greatest(1, least($1, floor(extract(epoch FROM $2::timestamptz "
      "- clock_timestamp()) * 1000::numeric)::bigint))::int AS t) AS timeout",
      std::max<int64_t>(absl::ToInt64Milliseconds(bounds_.lock_timeout), 1),
      std::max<int64_t>(absl::ToInt64Milliseconds(std::min(bounds_.statement_timeout, TimeLeft())),
                        1),
      QuoteText(TimestampText(bounds_.not_after)), ReadingSettings());
  const absl::StatusOr<QueryResult> begun = connection_.Execute(begin);
  // The error does not concern a row.
  if (!begun.ok()) return absl::UnavailableError(begun.status().message());
  is_cut_short_ = begun->Number(0, 2) < absl::ToInt64Milliseconds(bounds_.statement_timeout);
  const absl::Time now = absl::FromUnixMicros(begun->Number(0, 3));
  if (!store_now_.has_value()) store_now_ = now;
  return now < bounds_.not_after;
}

absl::StatusOr<std::vector<size_t>> DeleteRun::TakenIn(Items items) {
  std::vector<size_t> places;
  if (table_.sql.taken_in_statement().empty()) {
    for (size_t i = 0; i < items.size(); ++i) places.push_back(i);
    return places;
  }
  TTL_ASSIGN_OR_RETURN(const auto answer,
                       QueryBySystemNames(connection_, table_.sql.taken_in_statement(),
                                          table_.sql.StateParameters(items)));
  for (int row = 0; row < answer.rows(); ++row) {
    const size_t place = static_cast<size_t>(answer.Number(row, 0) - 1);
    if (place >= items.size()) return absl::InternalError("an answer about no item");
    places.push_back(place);
  }
  return places;
}

absl::StatusOr<std::vector<v1::DeleteResult>> DeleteRun::DeleteAndExplain(Items items,
                                                                          int& deleted) {
  TTL_ASSIGN_OR_RETURN(const auto places, TakenIn(items));
  TTL_ASSIGN_OR_RETURN(const int64_t removed_before, RemovedFromArchive());
  std::vector<AskedItem> taken_in;
  for (const size_t place : places) taken_in.push_back(items[place]);
  TTL_ASSIGN_OR_RETURN(const auto answer,
                       connection_.Query(table_.sql.delete_statement(),
                                         table_.sql.DeleteParameters(taken_in, bounds_.not_after)));
  std::vector<bool> held(items.size());
  std::vector<v1::DeleteResult> results(items.size());
  int64_t moved = 0;
  for (int row = 0; row < answer.rows(); ++row) {
    if (!answer.Value(row, 1).has_value()) {
      moved = answer.Number(row, 0);
      continue;
    }
    const size_t number = static_cast<size_t>(answer.Number(row, 0) - 1);
    if (number >= places.size()) return absl::InternalError("an answer about no item");
    const size_t item = places[number];
    held[item] = true;
    if (!answer.Bool(row, 1)) continue;
    results[item].set_outcome(v1::DELETE_OUTCOME_DELETED);
    ++deleted;
  }
  rows_touched_ += kTouchedByDelete * deleted;
  TTL_RETURN_IF_ERROR(RunDeferredTriggers(deleted));
  TTL_RETURN_IF_ERROR(ConfirmMoved({moved, removed_before}, results, deleted));
  TTL_RETURN_IF_ERROR(ConfirmMarked(items, results, deleted));
  TTL_RETURN_IF_ERROR(Explain(items, held, results));
  return results;
}

absl::StatusOr<std::vector<size_t>> DeleteRun::ChosenBy(const std::string& statement, Items items,
                                                        const std::vector<size_t>& places) {
  std::vector<AskedItem> asked;
  for (const size_t place : places) asked.push_back(items[place]);
  TTL_ASSIGN_OR_RETURN(const auto answer,
                       connection_.Query(statement, table_.sql.StateParameters(asked)));
  std::vector<size_t> chosen;
  for (int row = 0; row < answer.rows(); ++row) {
    const size_t number = static_cast<size_t>(answer.Number(row, 0) - 1);
    if (number >= places.size()) return absl::InternalError("an answer about no item");
    chosen.push_back(places[number]);
  }
  return chosen;
}

absl::StatusOr<std::vector<v1::DeleteResult>> DeleteRun::DeleteAndExplainGroups(Items items,
                                                                                int& deleted) {
  const GroupSql& sql = *table_.group_sql;
  std::vector<v1::DeleteResult> results(items.size());
  TTL_RETURN_IF_ERROR(connection_.Execute(sql.lock_tables()).status());
  TTL_ASSIGN_OR_RETURN(const std::string unguarded, WhyUnguarded());
  if (!unguarded.empty()) {
    for (v1::DeleteResult& result : results) {
      result.set_outcome(v1::DELETE_OUTCOME_FAILED);
      result.set_reason(unguarded);
    }
    return results;
  }
  const auto locked = LockGroups(items);
  if (awaits_lock_ && !locked.ok() && FaultOf(locked.status()) == DeleteFault::kLock) {
    results.front().set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    return results;
  }
  TTL_RETURN_IF_ERROR(locked.status());
  TTL_ASSIGN_OR_RETURN(const auto judged, ChosenBy(sql.judge(), items, *locked));
  TTL_ASSIGN_OR_RETURN(const auto deletable, CondemnSome(items, judged, results));
  TTL_RETURN_IF_ERROR(DeleteGroups(items, deletable, results, deleted));
  std::vector<bool> held(items.size());
  for (const size_t place : judged) held[place] = true;
  TTL_RETURN_IF_ERROR(Explain(items, held, results));
  TTL_RETURN_IF_ERROR(ExplainCondemned(items, results));
  // With its entry the group is deleted for good: the sidecar must no longer promise to hold it.
  for (const size_t place : condemned_) results[place].set_outcome(v1::DELETE_OUTCOME_DELETED);
  return results;
}

// A delete of a group of which older rows are condemned would delete these, too, and run out of
// time again.
absl::StatusOr<std::vector<size_t>> DeleteRun::CondemnSome(Items items,
                                                           const std::vector<size_t>& judged,
                                                           std::vector<v1::DeleteResult>& results) {
  if (!CanCondemn() || judged.empty()) return judged;
  const GroupSql& sql = *table_.group_sql;
  std::vector<size_t> condemned = judged;
  if (!is_condemning_) {
    TTL_ASSIGN_OR_RETURN(condemned, ChosenBy(sql.entries(), items, judged));
  }
  if (condemned.empty()) return judged;
  TTL_ASSIGN_OR_RETURN(const auto keys, QueryBySystemNames(connection_, sql.keys_to_itself(), {}));
  // FAILED, since the sidecar tries that again with a growing delay, and lists it.
  for (const size_t place : condemned) {
    results[place].set_outcome(v1::DELETE_OUTCOME_FAILED);
    results[place].set_reason(ReasonOf(keys.rows() > 0 ? kRefersToItself : kHasNewerRows));
  }
  if (keys.rows() == 0) {
    TTL_ASSIGN_OR_RETURN(condemned_, ChosenBy(sql.condemn(), items, condemned));
  }
  const std::set<size_t> excluded(condemned.begin(), condemned.end());
  std::vector<size_t> others;
  std::copy_if(judged.begin(), judged.end(), std::back_inserter(others),
               [&](size_t place) { return !excluded.contains(place); });
  return others;
}

// Condemned rows count as deleted, but a group is not found only once they are gone. Only a sidecar
// that missed the first answer asks.
absl::Status DeleteRun::ExplainCondemned(Items items, std::vector<v1::DeleteResult>& results) {
  std::vector<size_t> places;
  std::vector<AskedItem> missing;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].outcome() != v1::DELETE_OUTCOME_NOT_FOUND) continue;
    places.push_back(i);
    missing.push_back(items[i]);
  }
  if (!HasEntries() || missing.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const auto entries, connection_.Query(table_.group_sql->entries(),
                                                             table_.sql.StateParameters(missing)));
  for (int row = 0; row < entries.rows(); ++row) {
    const size_t number = static_cast<size_t>(entries.Number(row, 0) - 1);
    if (number >= places.size()) return absl::InternalError("an answer about no item");
    v1::DeleteResult& result = results[places[number]];
    result.set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    if (!entries.Value(row, 1).has_value()) continue;
    result.set_outcome(v1::DELETE_OUTCOME_FAILED);
    result.set_reason(std::string(entries.Text(row, 1)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DeleteRun::WhyUnguarded() {
  TTL_ASSIGN_OR_RETURN(const auto why,
                       QueryBySystemNames(connection_, table_.group_sql->why_unguarded(), {}));
  return why.Value(0, 0).has_value() ? std::string(why.Text(0, 0)) : "";
}

absl::StatusOr<std::vector<size_t>> DeleteRun::LockGroups(Items items) {
  std::vector<size_t> all(items.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const GroupSql& sql = *table_.group_sql;
  TTL_ASSIGN_OR_RETURN(const auto locked,
                       ChosenBy(awaits_lock_ ? sql.await_group() : sql.lock_groups(), items, all));
  const std::set<size_t> chosen(locked.begin(), locked.end());
  std::copy_if(all.begin(), all.end(), std::back_inserter(unlocked_),
               [&](size_t place) { return !chosen.contains(place); });
  return std::vector<size_t>(chosen.begin(), chosen.end());
}

absl::Status DeleteRun::DeleteGroups(Items items, const std::vector<size_t>& places,
                                     std::vector<v1::DeleteResult>& results, int& deleted) {
  if (places.empty()) return absl::OkStatus();
  std::vector<AskedItem> judged;
  for (const size_t place : places) {
    judged.push_back(items[place]);
    results[place].set_outcome(v1::DELETE_OUTCOME_DELETED);
  }
  deleted = static_cast<int>(places.size());
  const std::vector<Connection::Parameter> parameters = table_.sql.StateParameters(judged);
  for (const std::string& statement : table_.group_sql->deletes()) {
    const absl::Time began = bounds_.clock();
    const auto rows = connection_.Query(statement, parameters);
    TTL_RETURN_IF_ERROR(NoteTooLarge(rows.status(), began));
    rows_touched_ += kTouchedByDelete * rows->Number(0, 0);
    // Triggers of the table may have changed the settings.
    TTL_RETURN_IF_ERROR(connection_.Execute(ReadingSettings()).status());
  }
  const absl::Time began = bounds_.clock();
  TTL_RETURN_IF_ERROR(NoteTooLarge(RunDeferredTriggers(deleted), began));
  return ConfirmGroups(items, results, deleted);
}

// SQLSTATE 57014 is also that of an operator who cancels a statement, perhaps to save the rows.
absl::Status DeleteRun::NoteTooLarge(const absl::Status& status, absl::Time began) {
  is_too_large_ = !status.ok() && FaultOf(status) == DeleteFault::kTimeout &&
                  bounds_.clock() - began >= bounds_.statement_timeout;
  return status;
}

absl::Status DeleteRun::ConfirmGroups(Items items, std::vector<v1::DeleteResult>& results,
                                      int& deleted) {
  // The locks of the tables do not keep their schema from being renamed.
  TTL_ASSIGN_OR_RETURN(const std::string unguarded, WhyUnguarded());
  if (!unguarded.empty()) {
    Refuse(unguarded, results, deleted);
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(const auto remaining,
                       ChosenBy(table_.group_sql->remains(), items, PlacesOfDeleted(results)));
  if (remaining.empty()) return absl::OkStatus();
  refused_.insert(remaining.begin(), remaining.end());
  Refuse("the group still has rows after its delete: a trigger keeps or creates them", results,
         deleted);
  return absl::OkStatus();
}

absl::Status DeleteRun::Explain(Items items, const std::vector<bool>& held,
                                std::vector<v1::DeleteResult>& results) {
  std::vector<size_t> places;
  std::vector<AskedItem> left;
  for (size_t i = 0; i < items.size(); ++i) {
    if (results[i].outcome() != v1::DELETE_OUTCOME_UNSPECIFIED) continue;
    places.push_back(i);
    left.push_back(items[i]);
  }
  if (left.empty()) return absl::OkStatus();
  // Triggers of the delete may have changed the settings.
  TTL_RETURN_IF_ERROR(connection_.Execute(ReadingSettings()).status());
  TTL_ASSIGN_OR_RETURN(
      const auto state,
      table_.definition.config.where.empty()
          ? connection_.Query(table_.sql.state_statement(), table_.sql.StateParameters(left))
          : QueryBySystemNames(connection_, table_.sql.state_statement(),
                               table_.sql.StateParameters(left)));
  const int width = table_.select.width();
  TTL_ASSIGN_OR_RETURN(const auto snapshot, ParseTransactionSnapshot(state.Text(0, width + 3)));

  SelectedRow selected;
  for (int row = 0; row < state.rows(); ++row) {
    const size_t place = places[static_cast<size_t>(row)];
    const absl::Time clock = absl::FromUnixMicros(state.Number(row, width + 2));
    RowState found;
    found.exists = state.Value(row, width).has_value();
    found.is_same = state.Bool(row, width);
    found.is_in_doubt = found.exists && state.Bool(row, width + 1);
    found.was_held = held[place];
    found.is_group = table_.group_sql.has_value();
    if (found.exists && !found.is_same) {
      table_.select.Read(state, row, selected);
      found.xmin = selected.xmin;
      found.current = RowToItem(table_.definition, selected.texts,
                                {selected.xmin, bounds_.sequence, selected.commit_time}, clock);
    }
    if (found.exists) rows_touched_ += kTouchedOtherwise;
    is_rewritten_ = is_rewritten_ || found.WasRewritten();
    results[place] = WhyLeft(*items[place].item, found, snapshot,
                             {*store_now_, clock, bounds_.not_after}, bounds_.sequence);
  }
  return absl::OkStatus();
}

// Runs deferred constraints and triggers before COMMIT: under our timeouts, with an error that can
// be attributed, and before the rows are confirmed.
absl::Status DeleteRun::RunDeferredTriggers(int deleted) {
  if (deleted == 0) return absl::OkStatus();
  return connection_.Execute(absl::StrCat("SET CONSTRAINTS ALL IMMEDIATE;", ReadingSettings()))
      .status();
}

absl::Status DeleteRun::ConfirmMoved(const Moved& moved, std::vector<v1::DeleteResult>& results,
                                     int& deleted) {
  if (!table_.definition.archive.has_value() || deleted == 0) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const bool is_as_checked, IsArchiveAsChecked());
  is_archive_changed_ = !is_as_checked;
  if (is_archive_changed_) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const int64_t removed, RemovedFromArchive());
  if (moved.rows == 0) {
    const std::vector<size_t> places = PlacesOfDeleted(results);
    refused_.insert(places.begin(), places.end());
  }
  if (moved.rows != deleted) {
    Refuse("a trigger of the archive_table keeps the row out of it", results, deleted);
  } else if (removed != moved.removed_before) {
    Refuse("a trigger deletes rows of the archive_table while the row is moved to it", results,
           deleted);
  }
  return absl::OkStatus();
}

// The count cannot tell whether the copy is among them: INSERT is the only privilege on the
// archive.
absl::StatusOr<int64_t> DeleteRun::RemovedFromArchive() {
  if (!table_.definition.archive.has_value()) return 0;
  TTL_ASSIGN_OR_RETURN(
      const auto removed,
      QueryBySystemNames(connection_,
                         absl::StrCat("SELECT ", RemovedRowsOfArchive(table_.definition.config)),
                         {}));
  return removed.Number(0, 0);
}

absl::Status DeleteRun::ConfirmMarked(Items items, std::vector<v1::DeleteResult>& results,
                                      int& deleted) {
  if (table_.sql.left_in_statement().empty() || deleted == 0) return absl::OkStatus();
  const std::vector<size_t> places = PlacesOfDeleted(results);
  std::vector<AskedItem> marked;
  for (const size_t place : places) marked.push_back(items[place]);
  TTL_ASSIGN_OR_RETURN(const auto left_in,
                       QueryBySystemNames(connection_, table_.sql.left_in_statement(),
                                          table_.sql.StateParameters(marked)));
  if (left_in.rows() == 0) return absl::OkStatus();
  for (int row = 0; row < left_in.rows(); ++row) {
    const size_t number = static_cast<size_t>(left_in.Number(row, 0) - 1);
    if (number >= places.size()) return absl::InternalError("an answer about no item");
    refused_.insert(places[number]);
  }
  Refuse("row still matches the where of its table after the mark", results, deleted);
  return absl::OkStatus();
}

void DeleteRun::Refuse(const std::string& reason, std::vector<v1::DeleteResult>& results,
                       int& deleted) {
  is_rewritten_ = true;
  refusal_ = reason;
  deleted = 0;
  for (v1::DeleteResult& result : results) {
    if (result.outcome() != v1::DELETE_OUTCOME_DELETED) continue;
    result.set_outcome(v1::DELETE_OUTCOME_FAILED);
    result.set_reason(reason);
  }
}

// REQUIRES: the statement has locked both tables against a change of their columns.
absl::StatusOr<bool> DeleteRun::IsArchiveAsChecked() {
  TTL_ASSIGN_OR_RETURN(
      const auto signature,
      QueryBySystemNames(connection_,
                         absl::StrCat("SELECT ", ArchiveSignature(table_.definition.config)), {}));
  return signature.Text(0, 0) == table_.definition.archive->signature;
}

absl::Status DeleteRun::ExplainArchive(const absl::Status& error) {
  const auto begun = connection_.Execute("BEGIN; SET LOCAL search_path = pg_catalog");
  if (!begun.ok()) return Unavailable(begun.status());
  const auto problems = WhyArchiveIsUnfit(connection_, table_.definition.config);
  TTL_RETURN_IF_ERROR(Rollback());
  if (problems.ok() && !problems->empty()) {
    archive_fault_ = ReasonOf(problems->front());
  } else if (!error.ok()) {
    archive_fault_ = ReasonOf(error);
  } else {
    is_given_up_ = true;
    SetRetryAfter();
  }
  return absl::OkStatus();
}

absl::Status DeleteRun::Finish(std::vector<v1::DeleteResult>& results, int changed) {
  if (changed == 0) return Rollback();
  // An acknowledged commit must survive a server crash. The message is the last change of the
  // transaction, and costs no round trip of its own.
  const std::string emit_and_read_clock = absl::StrCat(
      "SELECT pg_catalog.set_config('synchronous_commit', 'local', true) "
      "WHERE pg_catalog.current_setting('synchronous_commit') = 'off';"
      "SELECT ",
      EmitMessage(table_.definition.config, changed),
      ";SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000::numeric)::bigint");
  TTL_ASSIGN_OR_RETURN(const auto checked, connection_.Execute(emit_and_read_clock));
  if (absl::FromUnixMicros(checked.Number(0, 0)) >= bounds_.not_after) {
    for (v1::DeleteResult& result : results) {
      if (result.outcome() != v1::DELETE_OUTCOME_DELETED) continue;
      result.set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    }
    return Rollback();
  }
  return connection_.Execute("COMMIT").status();
}

absl::Status DeleteRun::Rollback() {
  const auto rolled_back = connection_.Execute("ROLLBACK");
  return rolled_back.ok() ? absl::OkStatus() : Unavailable(rolled_back.status());
}

absl::Status DeleteRun::TryDelete() {
  // The server checks the right to emit a message, and emits none.
  const std::string emit_none =
      absl::StrCat("SELECT ", EmitMessage(table_.definition.config, 0), " WHERE false");
  TTL_RETURN_IF_ERROR(connection_.Execute(emit_none).status());
  if (!table_.group_sql.has_value()) {
    return connection_
        .Query(table_.sql.delete_statement(), table_.sql.DeleteParameters({}, bounds_.not_after))
        .status();
  }
  std::vector<std::string> statements = table_.group_sql->deletes();
  statements.push_back(table_.group_sql->judge());
  for (const std::string& statement : statements) {
    TTL_RETURN_IF_ERROR(connection_.Query(statement, table_.sql.StateParameters({})).status());
  }
  return absl::OkStatus();
}

absl::Status DeleteRun::ProbeTable(DeleteFault fault) {
  const bool is_telling = fault == DeleteFault::kDefinition || fault == DeleteFault::kLock;
  if (is_probed_ || !is_telling) return absl::OkStatus();
  is_probed_ = true;
  absl::Status error = TryDelete();
  if (FaultOf(error) == DeleteFault::kDefinition && table_.definition.archive) {
    const absl::Status of_source = connection_
                                       .Query(table_.sql.source_statement(),
                                              table_.sql.DeleteParameters({}, bounds_.not_after))
                                       .status();
    if (of_source.ok()) return ExplainArchive(error);
    error = of_source;
  }
  if (error.ok() && !table_.sql.taken_in_statement().empty()) {
    error = QueryBySystemNames(connection_, table_.sql.taken_in_statement(),
                               table_.sql.StateParameters({}))
                .status();
  }
  if (error.ok()) return absl::OkStatus();
  if (FaultOf(error) != DeleteFault::kLock) return Unavailable(error);
  is_given_up_ = true;
  SetRetryAfter();
  return absl::OkStatus();
}

absl::StatusOr<bool> DeleteRun::CanBeKey(const AskedItem& item) {
  const auto answer = connection_.Query(table_.sql.key_statement(), table_.sql.KeyParameters(item));
  if (answer.ok()) return true;
  if (!connection_.is_open()) return Unavailable(answer.status());
  return FaultOf(answer.status()) != DeleteFault::kRow;
}

void DeleteRun::SetRetryAfter() {
  response_.mutable_retry_after()->set_seconds(absl::ToInt64Seconds(kRetryAfter));
}

absl::Duration DeleteRun::TimeLeft() const { return bounds_.deadline - bounds_.clock(); }

void DeleteRun::SetAllThrottled(Items items, v1::ThrottleReason reason) {
  for (const AskedItem& item : items) {
    ResultOf(item).set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    ResultOf(item).set_throttle_reason(reason);
  }
}

void DeleteRun::FailAll(Items items, const std::string& reason) {
  for (const AskedItem& item : items) {
    ResultOf(item).set_outcome(v1::DELETE_OUTCOME_FAILED);
    ResultOf(item).set_reason(reason);
  }
}

}  // namespace ttl::postgres
