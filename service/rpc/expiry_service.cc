#include "service/rpc/expiry_service.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/core/due_rules.h"
#include "service/core/status_macros.h"
#include "service/rpc/container_lookup.h"
#include "service/rpc/delete_explanation.h"
#include "service/rpc/expiry_mapping.h"
#include "service/rpc/item_mapping.h"
#include "service/rpc/page_token.h"
#include "service/rpc/proto_time.h"
#include "service/rpc/quoted.h"
#include "service/rpc/request_validation.h"
#include "service/rpc/unary_call.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

// Counting stops here for one container, and a page of a list once it has
// counted so many entries in all: a handler's thread is not its own.
constexpr size_t kMaxBacklog = 10000;
constexpr int64_t kMaxCountedPerPage = 20000;

std::string Describe(const PauseTarget& target) {
  return target.all ? "all" : Quoted(target.container, kMaxContainerIdBytes);
}

std::string Describe(const std::optional<Pause>& pause) {
  if (!pause.has_value()) return "none";
  return absl::StrCat("{reason=", Quoted(pause->reason, kMaxPauseReasonBytes),
                      " since=", absl::FormatTime(pause->since, absl::UTCTimeZone()), "}");
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

ExpiryService::ExpiryService(Storage& storage, GuardedClock& clock, const SweepBoard& board,
                             const CheckCounters& counters, ExpiryServiceOptions options)
    : storage_(storage),
      clock_(clock),
      board_(board),
      counters_(counters),
      options_(std::move(options)) {}

grpc::ServerUnaryReactor* ExpiryService::GetExpiryStatus(grpc::CallbackServerContext* context,
                                                         const v1::GetExpiryStatusRequest* request,
                                                         v1::GetExpiryStatusResponse* response) {
  return UnaryCall(context).Finish(Get(*request, *response));
}

absl::Status ExpiryService::Get(const v1::GetExpiryStatusRequest& request,
                                v1::GetExpiryStatusResponse& response) const {
  const Moment moment = TakeMoment();
  *response.mutable_sidecar() = SidecarStatusAt(moment);
  if (request.container().empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(storage_.containers(), request.container()));
  TTL_ASSIGN_OR_RETURN(*response.mutable_container(), ContainerStatusAt(moment, *container));
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* ExpiryService::ListExpiryStatuses(
    grpc::CallbackServerContext* context, const v1::ListExpiryStatusesRequest* request,
    v1::ListExpiryStatusesResponse* response) {
  return UnaryCall(context).Finish(List(*request, *response));
}

absl::Status ExpiryService::List(const v1::ListExpiryStatusesRequest& request,
                                 v1::ListExpiryStatusesResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(std::string last, ReadContainerPageToken(request.page_token()));
  const Moment moment = TakeMoment();
  *response.mutable_sidecar() = SidecarStatusAt(moment);
  int64_t counted = 0;
  // One more than the page holds, to see whether it is the last.
  for (const ContainerPtr& container : storage_.containers().List(last, page_size + 1)) {
    const size_t size = response.containers_size();
    if (size == page_size || counted >= kMaxCountedPerPage) {
      response.set_next_page_token(ContainerPageToken(last));
      break;
    }
    TTL_ASSIGN_OR_RETURN(*response.add_containers(), ContainerStatusAt(moment, *container));
    counted += response.containers().rbegin()->backlog();
    last = container->id;
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* ExpiryService::ExplainItem(grpc::CallbackServerContext* context,
                                                     const v1::ExplainItemRequest* request,
                                                     v1::ExplainItemResponse* response) {
  return UnaryCall(context).Finish(Explain(*request, *response));
}

absl::Status ExpiryService::Explain(const v1::ExplainItemRequest& request,
                                    v1::ExplainItemResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const ItemKey key, ReadItemKey(request.partition_key(), request.id()));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(storage_.containers(), request.container()));
  TTL_ASSIGN_OR_RETURN(const std::optional<TrackedItem> item,
                       storage_.items().Find(container->number, key));
  if (!item.has_value()) return ItemNotFound(key);
  const Moment moment = TakeMoment();
  const absl::Time now = moment.clock.time.now;
  const DeleteExplanation explanation =
      ExplainDelete(*container, *item, HoldsAt(moment, *container), now);
  *response.mutable_item() = MakeItemView(*container, key, item->version, now);
  *response.mutable_judged_at() = ToProto(now);
  if (explanation.due_time.has_value()) response.set_due_time(*explanation.due_time);
  AddHolds(explanation.holds, *response.mutable_holds());
  response.set_attempts(item->attempts);
  response.set_last_error(item->last_error);
  response.set_explanation(explanation.sentence);
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* ExpiryService::PauseDeletes(grpc::CallbackServerContext* context,
                                                      const v1::PauseDeletesRequest* request,
                                                      v1::PauseDeletesResponse* response) {
  const UnaryCall call(context);
  const absl::StatusOr<PauseTarget> target = ReadPauseTarget(*request);
  if (!target.ok()) return call.Finish(target.status());
  if (const absl::Status valid = ValidatePauseReason(request->reason()); !valid.ok()) {
    return call.Finish(valid);
  }
  const Pause pause{request->reason(), clock_.Read().now};
  ChangePause(storage_.containers(), *target, pause,
              [call, response, pause](const absl::Status& status) {
                *response->mutable_pause() = ToProto(pause);
                call.Finish(status);
              });
  return call.reactor();
}

grpc::ServerUnaryReactor* ExpiryService::ResumeDeletes(grpc::CallbackServerContext* context,
                                                       const v1::ResumeDeletesRequest* request,
                                                       v1::ResumeDeletesResponse* /*response*/) {
  const UnaryCall call(context);
  const absl::StatusOr<PauseTarget> target = ReadPauseTarget(*request);
  if (!target.ok()) return call.Finish(target.status());
  ChangePause(storage_.containers(), *target, std::nullopt,
              [call](const absl::Status& status) { call.Finish(status); });
  return call.reactor();
}

grpc::ServerUnaryReactor* ExpiryService::AcceptClock(grpc::CallbackServerContext* context,
                                                     const v1::AcceptClockRequest* /*request*/,
                                                     v1::AcceptClockResponse* response) {
  return UnaryCall(context).Finish(Accept(*response));
}

absl::Status ExpiryService::Accept(v1::AcceptClockResponse& response) {
  const ClockStatus old = clock_.Status();
  TTL_RETURN_IF_ERROR(clock_.AcceptWall());
  const ClockStatus accepted = clock_.Status();
  spdlog::warn("wall clock accepted: old_now={} new_now={} old_reason={}",
               absl::FormatTime(old.time.now, absl::UTCTimeZone()),
               absl::FormatTime(accepted.time.now, absl::UTCTimeZone()), Quoted(old.reason, 512));
  if (options_.on_clock_accepted) options_.on_clock_accepted();
  *response.mutable_clock() = ToProto(accepted);
  return absl::OkStatus();
}

ExpiryService::Moment ExpiryService::TakeMoment() const {
  return {clock_.Status(), board_.Store(), storage_.containers().PauseOfAll(),
          storage_.WriteHealth()};
}

v1::SidecarStatus ExpiryService::SidecarStatusAt(const Moment& moment) const {
  v1::SidecarStatus status;
  *status.mutable_clock() = ToProto(moment.clock);
  *status.mutable_store() = ToProto(moment.store);
  if (moment.all_paused.has_value()) *status.mutable_pause() = ToProto(*moment.all_paused);
  if (options_.max_deletes_per_second.has_value()) {
    status.set_max_deletes_per_second(*options_.max_deletes_per_second);
  }
  status.set_storage_writable(moment.write_health.ok());
  status.set_storage_problem(std::string(moment.write_health.message()));
  status.set_impossible_checks(counters_.impossible);
  *status.mutable_start_time() = ToProto(options_.start_time);
  return status;
}

absl::StatusOr<v1::ContainerExpiryStatus> ExpiryService::ContainerStatusAt(
    const Moment& moment, const Container& container) const {
  const absl::Time now = moment.clock.time.now;
  const DueRule rule = ComputeDueRule(container.settings.policy, container.replaced_policies, now);
  TTL_ASSIGN_OR_RETURN(
      const Backlog backlog,
      storage_.expiry_index().CountDue(container, rule, absl::ToUnixSeconds(now), kMaxBacklog));
  return MakeContainerStatus(container, backlog, board_.View(container.number),
                             HoldsAt(moment, container), AllowedRate(container), now);
}

std::optional<double> ExpiryService::AllowedRate(const Container& container) const {
  return AllowedDeletesPerSecond(container.settings.max_deletes_per_second,
                                 options_.container_max_deletes_per_second,
                                 options_.max_deletes_per_second);
}

std::vector<DeleteHold> ExpiryService::HoldsAt(const Moment& moment,
                                               const Container& container) const {
  return ComputeDeleteHolds({
      .container = container,
      .all_paused = moment.all_paused,
      .time = moment.clock.time,
      .store = moment.store,
      .waiting_for_rate = board_.View(container.number).waiting_for_rate,
      .allowed_per_second = AllowedRate(container),
      .storage_writable = moment.write_health.ok(),
      .change_under_way = storage_.delete_gate().IsClosed(container.number),
  });
}

}  // namespace ttl
