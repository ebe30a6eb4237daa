#include "service/rpc/item_service.h"

#include <optional>
#include <utility>
#include <vector>

#include "service/core/status_macros.h"
#include "service/rpc/container_lookup.h"
#include "service/rpc/item_mapping.h"
#include "service/rpc/item_page.h"
#include "service/rpc/page_token.h"
#include "service/rpc/proto_time.h"
#include "service/rpc/request_validation.h"
#include "service/rpc/unary_call.h"
#include "service/rpc/visibility.h"

namespace ttl {
namespace {

v1::TrackResult ToProto(TrackOutcome outcome) {
  switch (outcome) {
    case TrackOutcome::kTracked:
      return v1::TRACK_RESULT_TRACKED;
    case TrackOutcome::kStale:
      return v1::TRACK_RESULT_STALE;
  }
  return v1::TRACK_RESULT_UNSPECIFIED;
}

v1::UntrackResult ToProto(UntrackOutcome outcome) {
  switch (outcome) {
    case UntrackOutcome::kUntracked:
      return v1::UNTRACK_RESULT_UNTRACKED;
    case UntrackOutcome::kStale:
      return v1::UNTRACK_RESULT_STALE;
    case UntrackOutcome::kNotTracked:
      return v1::UNTRACK_RESULT_NOT_TRACKED;
  }
  return v1::UNTRACK_RESULT_UNSPECIFIED;
}

// A callback for storage that answers `call` with the outcomes.
template <typename Outcome, typename Response>
Done<std::vector<Outcome>> AnswerWith(UnaryCall call, Response* response) {
  return [call, response](absl::StatusOr<std::vector<Outcome>> outcomes) {
    if (outcomes.ok()) {
      response->mutable_results()->Reserve(static_cast<int>(outcomes->size()));
      for (const Outcome outcome : *outcomes) response->add_results(ToProto(outcome));
    }
    call.Finish(outcomes.status());
  };
}

}  // namespace

ItemService::ItemService(const Containers& containers, Items& items, const GuardedClock& clock,
                         CheckCounters& counters)
    : containers_(containers), items_(items), clock_(clock), counters_(counters) {}

grpc::ServerUnaryReactor* ItemService::TrackItems(grpc::CallbackServerContext* context,
                                                  const v1::TrackItemsRequest* request,
                                                  v1::TrackItemsResponse* response) {
  const UnaryCall call(context);
  absl::StatusOr<std::vector<ItemReport>> reports = ReadReports(*request, clock_.Read().now);
  if (!reports.ok()) return call.Finish(reports.status());
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request->container());
  if (!container.ok()) return call.Finish(container.status());
  items_.Track((*container)->number, *std::move(reports), AnswerWith<TrackOutcome>(call, response));
  return call.reactor();
}

grpc::ServerUnaryReactor* ItemService::UntrackItems(grpc::CallbackServerContext* context,
                                                    const v1::UntrackItemsRequest* request,
                                                    v1::UntrackItemsResponse* response) {
  const UnaryCall call(context);
  absl::StatusOr<std::vector<ItemRemoval>> removals = ReadRemovals(*request, clock_.Read().now);
  if (!removals.ok()) return call.Finish(removals.status());
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request->container());
  if (!container.ok()) return call.Finish(container.status());
  items_.Untrack((*container)->number, *std::move(removals),
                 AnswerWith<UntrackOutcome>(call, response));
  return call.reactor();
}

grpc::ServerUnaryReactor* ItemService::CheckVisibility(grpc::CallbackServerContext* context,
                                                       const v1::CheckVisibilityRequest* request,
                                                       v1::CheckVisibilityResponse* response) {
  return UnaryCall(context).Finish(Check(*request, *response));
}

absl::Status ItemService::Check(const v1::CheckVisibilityRequest& request,
                                v1::CheckVisibilityResponse& response) {
  TTL_RETURN_IF_ERROR(ValidateChecks(request));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(containers_, request.container()));
  const auto find = [&](absl::string_view partition_key, absl::string_view id) {
    return items_.FindTimes(container->number, partition_key, id);
  };
  int64_t impossible = 0;
  absl::Status status =
      JudgeChecks(*container, find, clock_.Read().now, request, response, impossible);
  if (impossible > 0) counters_.impossible += impossible;
  return status;
}

grpc::ServerUnaryReactor* ItemService::GetItem(grpc::CallbackServerContext* context,
                                               const v1::GetItemRequest* request,
                                               v1::GetItemResponse* response) {
  return UnaryCall(context).Finish(Get(*request, *response));
}

absl::Status ItemService::Get(const v1::GetItemRequest& request,
                              v1::GetItemResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const ItemKey key, ReadItemKey(request.partition_key(), request.id()));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(containers_, request.container()));
  TTL_ASSIGN_OR_RETURN(const std::optional<TrackedItem> item, items_.Find(container->number, key));
  const absl::Time now = clock_.Read().now;
  if (!item.has_value() || !IsLive(*container, *item, now)) return ItemNotFound(key);
  *response.mutable_item() = MakeItemView(*container, key, item->version, now);
  *response.mutable_judged_at() = ttl::ToProto(now);
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* ItemService::ListItems(grpc::CallbackServerContext* context,
                                                 const v1::ListItemsRequest* request,
                                                 v1::ListItemsResponse* response) {
  return UnaryCall(context).Finish(List(*request, *response));
}

absl::Status ItemService::List(const v1::ListItemsRequest& request,
                               v1::ListItemsResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(const std::optional<ItemKey> after, ReadItemPageToken(request.page_token()));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(containers_, request.container()));
  const auto list = [&](const std::optional<ItemKey>& from, size_t limit) {
    return items_.List(container->number, from, limit);
  };
  return FillItemPage(*container, list, after, page_size, request.show_expired(), clock_.Read().now,
                      response);
}

}  // namespace ttl
