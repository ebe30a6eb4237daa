#include "service/rpc/services/expiry_service.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/core/adoption.h"
#include "service/core/delete_holds.h"
#include "service/core/due_rules.h"
#include "service/core/forecast.h"
#include "service/core/windows/time_zone.h"
#include "service/core/windows/window_clock.h"
#include "service/rpc/mapping/container_mapping.h"
#include "service/rpc/mapping/expiry_mapping.h"
#include "service/rpc/mapping/forecast_query.h"
#include "service/rpc/mapping/hold_mapping.h"
#include "service/rpc/mapping/item_mapping.h"
#include "service/rpc/mapping/page_token.h"
#include "service/rpc/mapping/request_validation.h"
#include "service/rpc/services/container_lookup.h"
#include "service/rpc/status/container_status.h"
#include "service/rpc/status/delete_explanation.h"
#include "service/rpc/status/due_items.h"
#include "service/rpc/status/health.h"
#include "service/rpc/status/window_outlook.h"
#include "service/transport/calls/method_table.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

// Bounds of counting, for one container and for one page of a list: handlers share their thread.
constexpr int64_t kMaxBacklog = 10000;
constexpr int64_t kMaxCountedPerPage = 20000;
// For each container of a page that has counted so many.
constexpr int64_t kMaxBrieflyCounted = 80;

// Maximum number of holds that ExplainItem lists.
constexpr size_t kMaxShownHolds = 100;

// Longest text of a caller in a log line.
constexpr size_t kMaxLoggedBytes = 512;

std::string Describe(const PauseTarget& target) {
  return target.all ? "all" : Quoted(target.container, kMaxContainerIdBytes);
}

std::string Describe(const std::optional<Pause>& pause) {
  if (!pause.has_value()) return "none";
  return absl::StrCat("{reason=", Quoted(pause->reason, kMaxPauseReasonBytes),
                      " since=", TimeText(pause->since),
                      " author=", Quoted(pause->author, kMaxLoggedBytes), "}");
}

std::string DescribeLimit(std::optional<double> per_second) {
  return per_second.has_value() ? absl::StrCat(*per_second) : "none";
}

v1::SidecarHealth MakeHealth(std::vector<std::string> reasons) {
  v1::SidecarHealth health;
  health.set_state(reasons.empty() ? v1::HEALTH_STATE_HEALTHY : v1::HEALTH_STATE_DEGRADED);
  for (std::string& reason : reasons) health.add_reasons(std::move(reason));
  return health;
}

v1::SweepStatus MakeSweepStatus(const SweeperView& sweeper, bool stalled, absl::Time now,
                                std::optional<absl::Duration> steady) {
  v1::SweepStatus status;
  if (sweeper.last_step.has_value() && steady.has_value()) {
    *status.mutable_last_step_time() = ToProto(now - (*steady - *sweeper.last_step));
  }
  status.set_stalled(stalled);
  status.set_calls_under_way(static_cast<int32_t>(sweeper.calls_under_way));
  return status;
}

// The adopted items that may still wait for their grace, of which the histogram does not know.
int64_t MayWait(const Container& container, const AdoptionTally& adopted, absl::Time now) {
  const int64_t end = AdoptionEnd(container, adopted.last_adopted_until);
  const bool waits = AdoptionIsBraked(container, now) || absl::FromUnixSeconds(end) > now;
  return waits ? adopted.left : 0;
}

// What the tallies tell of the backlog, of which `not_in_it` due items may be no part.
Backlog SureBacklog(const ItemEstimate& due, int64_t not_in_it) {
  const int64_t sure = due.sum.items - due.error_bound_items - not_in_it;
  Backlog backlog;
  backlog.count = std::clamp<int64_t>(sure, 0, kMaxBacklog);
  backlog.is_lower_bound = true;
  return backlog;
}

bool HasHold(const std::vector<DeleteHold>& holds, DeleteHold hold) {
  return std::find(holds.begin(), holds.end(), hold) != holds.end();
}

void AddInDoubt(std::vector<DeleteHold>& holds) {
  if (!HasHold(holds, DeleteHold::kHoldsInDoubt)) holds.push_back(DeleteHold::kHoldsInDoubt);
}

// The gates that the expired item waits for.
GateWait GatesOf(const Feed& feed, const Container& container, const TrackedItem& item) {
  if (!container.feed.is_on()) return {};
  const bool is_told = container.feed.IsAnnounced(item.expired_sequence) &&
                       item.expired_sequence > feed.Gates(container).again_up_to;
  const uint64_t sequence = is_told ? item.expired_sequence : 0;
  return {.subscriptions = feed.WaitingFor(container, sequence), .sequence = sequence};
}

// The rates of deletes until the last of `times`. Empty if the container has no windows, or if
// nothing is deleted until something changes.
std::vector<RateStep> UpcomingRates(const Container& container, const ExpiryView::Freedom& freedom,
                                    absl::Span<const int64_t> times) {
  const std::optional<DeleteWindows>& windows = container.settings.windows;
  if (!windows.has_value() || !freedom.deletes_begin.has_value()) return {};
  return WindowRates(WindowClock(*windows, FindTimeZone(windows->time_zone)),
                     freedom.allowed_but_windows, *freedom.deletes_begin,
                     absl::FromUnixSeconds(times.back()));
}

std::optional<Pause> PauseOf(const Containers& containers, const PauseTarget& target) {
  if (target.all) return containers.PauseOfAll();
  const ContainerPtr container = containers.Find(target.container);
  return container == nullptr ? std::nullopt : container->pause;
}

// Sets or lifts the pause of `target`, logs it, and calls `done`.
void ChangePause(Containers& containers, const PauseTarget& target, std::optional<Pause> pause,
                 DoneStatus done) {
  auto log_and_finish = [target, pause, old = PauseOf(containers, target),
                         done = std::move(done)](const absl::Status& status) mutable {
    if (status.ok()) {
      spdlog::info("{}: container={} old={} new={}",
                   pause.has_value() ? "deletes paused" : "deletes resumed", Describe(target),
                   Describe(old), Describe(pause));
    }
    done(status);
  };
  if (target.all) {
    containers.SetPauseOfAll(std::move(pause), std::move(log_and_finish));
    return;
  }
  containers.SetPause(
      target.container, std::move(pause),
      [finish = std::move(log_and_finish)](const absl::StatusOr<ContainerPtr>& changed) mutable {
        finish(changed.status());
      });
}

}  // namespace

ExpiryService::ExpiryService(const Parts& parts, ExpiryServiceOptions options)
    : parts_(parts),
      options_(std::move(options)),
      view_({.storage = parts.storage,
             .clock = parts.clock,
             .system_clock = parts.system_clock,
             .published = parts.published,
             .usage = parts.usage,
             .limit = parts.levers.limit(),
             .trust = parts.levers.store_trust(),
             .container_max_deletes_per_second = options_.container_max_deletes_per_second}) {}

const google::protobuf::ServiceDescriptor& ExpiryService::descriptor() const {
  return *v1::GetExpiryStatusRequest::descriptor()->file()->service(0);
}

void ExpiryService::AddMethods(MethodTable& table) {
  table.Add("GetExpiryStatus", *this, &ExpiryService::Get);
  table.Add("ListExpiryStatuses", *this, &ExpiryService::List);
  table.Add("ExplainItem", *this, &ExpiryService::Explain);
  table.Add("PauseDeletes", *this, &ExpiryService::HandlePause);
  table.Add("ResumeDeletes", *this, &ExpiryService::HandleResume);
  table.Add("AcceptClock", *this, &ExpiryService::Accept);
  table.Add("GetForecast", *this, &ExpiryService::HandleForecast);
  table.Add("ListStuckItems", *this, &ExpiryService::ListStuck);
  table.Add("ReportUsage", *this, &ExpiryService::Report);
  table.Add("ConfirmPolicy", *this, &ExpiryService::HandleConfirmPolicy);
  table.Add("ConfirmStore", *this, &ExpiryService::HandleConfirmStore);
  table.Add("SetMaxDeletesPerSecond", *this, &ExpiryService::SetLimit);
}

absl::Status ExpiryService::Get(const v1::GetExpiryStatusRequest& request,
                                v1::GetExpiryStatusResponse& response) const {
  const Snapshot snapshot = view_.TakeSnapshot();
  *response.mutable_sidecar() = SidecarStatusAt(snapshot);
  if (request.container().empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(parts_.storage.containers(), request.container()));
  *response.mutable_container() = ContainerStatusAt(snapshot, *container, kMaxBacklog);
  return absl::OkStatus();
}

absl::Status ExpiryService::List(const v1::ListExpiryStatusesRequest& request,
                                 v1::ListExpiryStatusesResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(std::string last, ReadContainerPageToken(request.page_token()));
  const Snapshot snapshot = view_.TakeSnapshot();
  *response.mutable_sidecar() = SidecarStatusAt(snapshot);
  int64_t counted = 0;
  // One more than the page holds, to tell whether it is the last page.
  for (const ContainerPtr& container : parts_.storage.containers().List(last, page_size + 1)) {
    const size_t size = response.containers_size();
    if (size == page_size) {
      response.set_next_page_token(ContainerPageToken(last));
      break;
    }
    const int64_t limit = counted < kMaxCountedPerPage ? kMaxBacklog : kMaxBrieflyCounted;
    *response.add_containers() = ContainerStatusAt(snapshot, *container, limit);
    counted += response.containers().rbegin()->backlog();
    last = container->id;
  }
  return absl::OkStatus();
}

absl::Status ExpiryService::Explain(const v1::ExplainItemRequest& request,
                                    v1::ExplainItemResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const ItemKey key, ReadItemKey(request.partition_key(), request.id()));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(parts_.storage.containers(), request.container()));
  TTL_ASSIGN_OR_RETURN(const std::optional<TrackedItem> item,
                       parts_.storage.items().Find(container->number, key));
  if (!item.has_value()) return ItemNotFound(key, parts_.storage.data_trust().doubt());
  const Snapshot snapshot = view_.TakeSnapshot();
  const absl::Time now = snapshot.clock.time.now;
  const bool with_expire_at = item->version.times.expire_at.has_value();
  ExpiryView::Freedom freedom = view_.FreedomAt(snapshot, *container, with_expire_at);
  const absl::StatusOr<std::vector<HoldPtr>> item_holds =
      parts_.storage.holds().Covering(container->number, key, kMaxShownHolds);
  if (!item_holds.ok()) AddInDoubt(freedom.holds);
  *response.mutable_item() = MakeItemView(*container, key, item->version, now);
  GateWait gates;
  if (response.item().expired()) gates = GatesOf(parts_.storage.feed(), *container, *item);
  const DeleteExplanation explanation = ExplainDelete(
      *container, *item, freedom.holds, now, item_holds.value_or(std::vector<HoldPtr>()), gates);
  *response.mutable_judged_at() = ToProto(now);
  if (explanation.due_time.has_value()) response.set_due_time(*explanation.due_time);
  AddHolds(explanation.holds, *response.mutable_holds());
  response.set_attempts(item->attempts);
  const bool is_told = container->feed.IsAnnounced(item->expired_sequence);
  if (is_told) response.set_expired_sequence(item->expired_sequence);
  for (const std::string& name : gates.subscriptions) response.add_waiting_for(name);
  response.set_last_error(item->last_error);
  response.set_explanation(explanation.sentence);
  const std::optional<absl::Time> next_start = freedom.windows.next_start;
  if (HasHold(explanation.holds, DeleteHold::kWindow) && next_start.has_value()) {
    absl::StrAppend(response.mutable_explanation(), " The windows allow deletes from ",
                    TimeText(*next_start), " on.");
  }
  if (!item_holds.ok()) {  // then the sweep keeps the item
    absl::StrAppend(response.mutable_explanation(), " Its holds cannot be read (",
                    TextOf(item_holds.status()), "), so it is kept.");
    return absl::OkStatus();
  }
  for (const HoldPtr& hold : *item_holds) {
    *response.add_item_holds() = ToProto(*hold, container->id);
  }
  return absl::OkStatus();
}

void ExpiryService::HandlePause(const std::string& author, const v1::PauseDeletesRequest& request,
                                v1::PauseDeletesResponse& response, DoneStatus done) {
  const absl::StatusOr<PauseTarget> target = ReadPauseTarget(request);
  if (!target.ok()) return done(target.status());
  if (const absl::Status valid = ValidatePauseReason(request.reason()); !valid.ok()) {
    return done(valid);
  }
  const Pause pause{request.reason(), parts_.clock.Read().now, author};
  ChangePause(parts_.storage.containers(), *target, pause,
              [&response, pause, done = std::move(done)](const absl::Status& status) mutable {
                *response.mutable_pause() = ToProto(pause);
                done(status);
              });
}

void ExpiryService::HandleResume(const v1::ResumeDeletesRequest& request,
                                 v1::ResumeDeletesResponse& /*response*/, DoneStatus done) {
  const absl::StatusOr<PauseTarget> target = ReadPauseTarget(request);
  if (!target.ok()) return done(target.status());
  ChangePause(parts_.storage.containers(), *target, std::nullopt, std::move(done));
}

absl::Status ExpiryService::Accept(const v1::AcceptClockRequest& /*request*/,
                                   v1::AcceptClockResponse& response) {
  const ClockStatus old = parts_.clock.Status();
  TTL_RETURN_IF_ERROR(parts_.clock.AcceptWall());
  const ClockStatus accepted = parts_.clock.Status();
  spdlog::warn("wall clock accepted: old_now={} new_now={} old_reason={}", TimeText(old.time.now),
               TimeText(accepted.time.now), Quoted(old.reason, kMaxLoggedBytes));
  if (options_.on_clock_accepted) options_.on_clock_accepted();
  *response.mutable_clock() = ToProto(accepted);
  return absl::OkStatus();
}

absl::Status ExpiryService::HandleForecast(const v1::GetForecastRequest& request,
                                           v1::GetForecastResponse& response) const {
  const Snapshot snapshot = view_.TakeSnapshot();
  TTL_ASSIGN_OR_RETURN(const ForecastQuery query,
                       ReadForecastQuery(request, snapshot.clock.time.now));
  Forecast forecast(query.times,
                    query.container.has_value() ? std::nullopt : snapshot.limit_per_second);
  if (query.container.has_value()) {
    TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                         FindContainer(parts_.storage.containers(), *query.container));
    Container judged = *container;
    if (query.default_ttl.has_value()) {
      judged.settings.policy.default_ttl = query.default_ttl;
      judged.replaced_policies.clear();
    }
    AddForecast(snapshot, judged, query.times, forecast);
  } else {
    for (const ContainerPtr& container : parts_.storage.containers().All()) {
      AddForecast(snapshot, *container, query.times, forecast);
    }
  }
  forecast.Fill(response);
  response.set_data_in_doubt(parts_.storage.data_trust().in_doubt() ||
                             !snapshot.store.unconfirmed.empty());
  return absl::OkStatus();
}

void ExpiryService::AddForecast(const Snapshot& snapshot, const Container& container,
                                absl::Span<const int64_t> times, Forecast& forecast) const {
  const Policy& policy = container.settings.policy;
  Tallies::Forecast tally =
      parts_.storage.tallies().ForecastOf(container.number, ExpiryMoments(policy, times),
                                          DueMoments(policy, container.replaced_policies, times));
  int64_t& due = tally.due[0].sum.items;
  due = FreeDueItems(parts_.storage, container, due, times[0]);
  const ExpiryView::Freedom freedom = view_.FreedomButRetries(snapshot, container);
  forecast.Add(container, tally,
               {.per_second = freedom.allowed_per_second,
                .begin = freedom.deletes_begin,
                .rates = UpcomingRates(container, freedom, times)});
}

absl::Status ExpiryService::ListStuck(const v1::ListStuckItemsRequest& request,
                                      v1::ListStuckItemsResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(const auto after, ReadStuckPageToken(request.page_token()));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(parts_.storage.containers(), request.container()));
  TTL_ASSIGN_OR_RETURN(const StuckPage page,
                       parts_.storage.expiry_index().ListStuck(*container, after, page_size));
  for (const StuckItem& item : page.items) {
    v1::StuckItem& proto = *response.add_items();
    proto.set_partition_key(item.key.partition_key);
    proto.set_id(item.key.id);
    proto.set_attempts(item.attempts);
    proto.set_last_error(item.last_error);
    proto.set_next_try_time(item.next_try_time);
  }
  if (page.next.has_value()) response.set_next_page_token(StuckPageToken(*page.next));
  return absl::OkStatus();
}

absl::Status ExpiryService::Report(const v1::ReportUsageRequest& request,
                                   v1::ReportUsageResponse& /*response*/) {
  TTL_ASSIGN_OR_RETURN(const UsageReport report, ReadUsage(request));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(parts_.storage.containers(), request.container()));
  const std::optional<absl::Duration> now = parts_.system_clock.Read().boot;
  if (!now.has_value()) {
    return MakeError(Reason::kClockUnreadable,
                     "usage was not recorded: the steady clock cannot be read");
  }
  parts_.usage.Report(container->number, request.reporter(), report.request_units, report.period,
                      *now);
  return absl::OkStatus();
}

void ExpiryService::HandleConfirmPolicy(const v1::ConfirmPolicyRequest& request,
                                        v1::ConfirmPolicyResponse& response, DoneStatus done) {
  const absl::StatusOr<ContainerPtr> old =
      FindContainer(parts_.storage.containers(), request.container());
  if (!old.ok()) return done(old.status());
  const absl::Time now = parts_.clock.Read().now;
  parts_.storage.containers().ConfirmPolicy(
      request.container(), request.etag(), now,
      [this, &response, old = *old, now,
       done = std::move(done)](const absl::StatusOr<ContainerPtr>& confirmed) mutable {
        if (confirmed.ok()) {
          spdlog::info("policy confirmed: container={} old={} new={}",
                       Quoted((*confirmed)->id, kMaxContainerIdBytes),
                       DescribePulledBrakes(*old, now), DescribePulledBrakes(**confirmed, now));
          *response.mutable_container() =
              ToProto(**confirmed, parts_.storage.holds().AreInDoubt(**confirmed));
          NotifyChange();
        }
        done(confirmed.status());
      });
}

void ExpiryService::HandleConfirmStore(const v1::ConfirmStoreRequest& request,
                                       v1::ConfirmStoreResponse& /*response*/, DoneStatus done) {
  const std::string& store_id = request.store_id();
  if (const absl::Status may = MayConfirmStore(store_id); !may.ok()) return done(may);
  const std::string old = parts_.levers.store_trust().store_id().value_or("");
  const std::string doubt = view_.Unconfirmed(parts_.published.Store());
  parts_.levers.ConfirmStore(
      store_id, [this, store_id, old, doubt, done = std::move(done)](absl::Status status) mutable {
        if (status.ok()) {
          spdlog::warn("primary store confirmed: old_store={} new_store={} doubt={} data={}",
                       Quoted(old, kMaxLoggedBytes), Quoted(store_id, kMaxLoggedBytes),
                       Quoted(doubt, kMaxLoggedBytes),
                       Quoted(parts_.storage.data_trust().doubt(), kMaxLoggedBytes));
        }
        done(std::move(status));
      });
}

absl::Status ExpiryService::MayConfirmStore(const std::string& store_id) const {
  TTL_RETURN_IF_ERROR(ValidateStoreId(store_id));
  const StoreView store = parts_.published.Store();
  if (view_.Unconfirmed(store).empty()) {
    return MakeError(Reason::kStoreNeedsNoConfirmation, "the primary store needs no confirmation");
  }
  if (store_id == store.store_id) return absl::OkStatus();
  return MakeError(
      Reason::kStoreIdMismatch,
      absl::StrCat("store_id is ", Quoted(store_id), " and the store connected now is ",
                   store.store_id.empty() ? "not known yet" : Quoted(store.store_id),
                   ": check the status and confirm that store"),
      {{"store_id", store.store_id}});
}

void ExpiryService::SetLimit(const v1::SetMaxDeletesPerSecondRequest& request,
                             v1::SetMaxDeletesPerSecondResponse& response, DoneStatus done) {
  const absl::StatusOr<LimitChange> change = ReadLimitChange(request);
  if (!change.ok()) return done(change.status());
  Levers& levers = parts_.levers;
  const std::optional<double> old = levers.limit().Get();
  const std::optional<double> limit =
      change->server_default ? levers.default_limit() : change->max_deletes_per_second;
  auto set = [&response, old, limit, done = std::move(done)](absl::Status status) mutable {
    if (status.ok()) {
      spdlog::info("limit on all deletes set: old_per_second={} new_per_second={}",
                   DescribeLimit(old), DescribeLimit(limit));
      if (limit.has_value()) response.set_max_deletes_per_second(*limit);
    }
    done(std::move(status));
  };
  if (change->server_default) return levers.ResetLimit(std::move(set));
  levers.SetLimit(limit, std::move(set));
}

void ExpiryService::NotifyChange() const {
  if (options_.on_change) options_.on_change();
}

v1::SidecarStatus ExpiryService::SidecarStatusAt(const Snapshot& snapshot) const {
  v1::SidecarStatus status;
  *status.mutable_clock() = ToProto(snapshot.clock);
  *status.mutable_store() = ToProto(snapshot.store);
  if (snapshot.all_paused.has_value()) *status.mutable_pause() = ToProto(*snapshot.all_paused);
  if (snapshot.limit_per_second.has_value()) {
    status.set_max_deletes_per_second(*snapshot.limit_per_second);
  }
  status.set_storage_writable(snapshot.write_health.ok());
  status.set_storage_problem(std::string(snapshot.write_health.message()));
  status.mutable_data()->set_reason(parts_.storage.data_trust().doubt());
  status.mutable_data()->set_in_doubt(!status.data().reason().empty());
  status.set_impossible_checks(parts_.counters.impossible);
  *status.mutable_start_time() = ToProto(options_.start_time);
  std::optional<absl::Duration> stall;
  if (snapshot.steady.has_value()) {
    stall = SweepStall(snapshot.sweeper, options_.start_steady, *snapshot.steady);
  }
  std::vector<std::string> troubles;
  if (options_.troubles) troubles = options_.troubles();
  *status.mutable_health() =
      MakeHealth(DegradedReasons({.sweep_stall = stall,
                                  .write_health = snapshot.write_health,
                                  .storage_problems = parts_.storage.Problems(),
                                  .data_doubt = parts_.storage.data_trust().doubt(),
                                  .clock = snapshot.clock,
                                  .store = snapshot.store,
                                  .report_health = parts_.storage.ReportHealth(),
                                  .troubles = std::move(troubles)}));
  *status.mutable_sweep() = MakeSweepStatus(snapshot.sweeper, stall.has_value(),
                                            snapshot.clock.time.now, snapshot.steady);
  return status;
}

v1::ContainerExpiryStatus ExpiryService::ContainerStatusAt(const Snapshot& snapshot,
                                                           const Container& container,
                                                           int64_t max_counted) const {
  const TallyView tally = parts_.storage.tallies().View(container.number);
  const BacklogView backlog = BacklogAt(snapshot, container, tally, max_counted);
  const ExpiryView::Freedom freedom = view_.FreedomAt(snapshot, container);
  v1::ContainerExpiryStatus status =
      MakeContainerStatus({.container = container,
                           .tally = tally,
                           .backlog = backlog.known,
                           .backlog_problem = backlog.problem,
                           .sweep = freedom.sweep,
                           .holds = freedom.holds,
                           .rates = freedom.rates,
                           .now = snapshot.clock.time.now,
                           .failing_items = parts_.storage.tallies().Failing(container.number),
                           .hold_counts = parts_.storage.holds().Counts(container.number)});
  if (container.feed.is_on()) *status.mutable_feed() = parts_.feeds.StatusOf(container);
  if (container.settings.windows.has_value()) {
    *status.mutable_windows() = MakeWindowStatus(
        container, freedom.windows,
        ComputeWindowOutlook(parts_.storage, container, freedom.rates, snapshot.clock.time.now));
  }
  return status;
}

ExpiryService::BacklogView ExpiryService::BacklogAt(const Snapshot& snapshot,
                                                    const Container& container,
                                                    const TallyView& tally,
                                                    int64_t max_counted) const {
  const absl::Time now = snapshot.clock.time.now;
  const int64_t now_seconds = absl::ToUnixSeconds(now);
  const DueRule rule = ComputeDueRule(container.settings.policy, container.replaced_policies, now);
  // Most containers have nothing due; then the index need not be read.
  const ItemEstimate due = tally.histogram.CountDue(rule, now_seconds);
  if (tally.complete && due.sum.items == 0 && due.error_bound_items == 0) return {};
  const ExpiryIndex& index = parts_.storage.expiry_index();
  const absl::StatusOr<Backlog> counted = index.CountDue(container, rule, now_seconds, max_counted);
  if (counted.ok() && (max_counted == kMaxBacklog || !counted->is_lower_bound)) {
    return {*counted, ""};
  }
  const int64_t set_aside = SetAsideItems(parts_.storage, container);
  BacklogView view = {SureBacklog(due, MayWait(container, tally.adopted, now) + set_aside),
                      std::string(counted.status().message())};
  if (counted.ok()) view.known.count = std::max(view.known.count, counted->count);
  if (const auto oldest = index.OldestDueTime(container, rule, now_seconds); oldest.ok()) {
    view.known.oldest_due_time = *oldest;
  }
  return view;
}

}  // namespace ttl
