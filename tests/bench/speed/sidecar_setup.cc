#include "tests/bench/speed/sidecar_setup.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/item_names.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

constexpr int64_t kDay = 86400;
constexpr uint64_t kBatch = 1000;

absl::Status ToStatus(const grpc::Status& status, const std::string& doing) {
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(doing, ": ", status.error_message()));
}

absl::Status Track(v1::ItemService::Stub& stub, const v1::TrackItemsRequest& request) {
  grpc::ClientContext context;
  v1::TrackItemsResponse response;
  TTL_RETURN_IF_ERROR(ToStatus(stub.TrackItems(&context, request, &response), "loading"));
  if (IsTracked(response, request.items_size())) return absl::OkStatus();
  return absl::InternalError("loading: an item was not tracked");
}

}  // namespace

absl::Status CreateContainer(const std::shared_ptr<grpc::Channel>& channel, const std::string& id,
                             int64_t default_ttl) {
  const auto stub = v1::ContainerService::NewStub(channel);
  grpc::ClientContext context;
  v1::CreateContainerRequest request;
  request.mutable_container()->set_id(id);
  request.mutable_container()->set_default_ttl(default_ttl);
  v1::CreateContainerResponse response;
  return ToStatus(stub->CreateContainer(&context, request, &response), "creating " + id);
}

absl::Status SwitchFeedOn(const std::shared_ptr<grpc::Channel>& channel,
                          const std::string& container) {
  const auto stub = v1::ContainerService::NewStub(channel);
  grpc::ClientContext context;
  v1::UpdateContainerRequest request;
  request.mutable_container()->set_id(container);
  request.mutable_container()->mutable_feed();
  request.mutable_update_mask()->add_paths("feed");
  v1::UpdateContainerResponse response;
  return ToStatus(stub->UpdateContainer(&context, request, &response),
                  "switching the feed of " + container + " on");
}

absl::Status LoadItems(const std::shared_ptr<grpc::Channel>& channel, uint64_t items) {
  TTL_RETURN_IF_ERROR(CreateContainer(channel, kLoadedContainer, kDay));
  TTL_RETURN_IF_ERROR(CreateContainer(channel, kTrackedContainer, kDay));
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  const auto stub = v1::ItemService::NewStub(channel);
  for (uint64_t first = 0; first < items; first += kBatch) {
    TTL_RETURN_IF_ERROR(Track(*stub, LoadRequest(first, std::min(first + kBatch, items), now)));
  }
  return absl::OkStatus();
}

absl::Status LoadInheriting(const std::shared_ptr<grpc::Channel>& channel, const LoadPlan& plan) {
  const auto stub = v1::ItemService::NewStub(channel);
  for (uint64_t first = plan.first; first < plan.end; first += kBatch) {
    v1::TrackItemsRequest request;
    request.set_container(plan.container);
    for (uint64_t i = first; i < std::min(first + kBatch, plan.end); ++i) {
      v1::Item& item = *request.add_items();
      item.set_partition_key(PartitionKeyOf(i));
      item.set_id(IdOf(i));
      item.set_ts(plan.ts);
      if (plan.expire_time.has_value()) item.set_ttl(*plan.expire_time - plan.ts);
    }
    TTL_RETURN_IF_ERROR(Track(*stub, request));
  }
  return absl::OkStatus();
}

absl::Status PauseDeletesOf(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& container) {
  const auto stub = v1::ExpiryService::NewStub(channel);
  grpc::ClientContext context;
  v1::PauseDeletesRequest request;
  request.set_container(container);
  request.set_reason("the answers to the checks must not change");
  v1::PauseDeletesResponse response;
  return ToStatus(stub->PauseDeletes(&context, request, &response), "pausing deletes");
}

absl::Status ResumeAllDeletes(const std::shared_ptr<grpc::Channel>& channel) {
  const auto stub = v1::ExpiryService::NewStub(channel);
  grpc::ClientContext context;
  v1::ResumeDeletesRequest request;
  request.set_all_containers(true);
  v1::ResumeDeletesResponse response;
  return ToStatus(stub->ResumeDeletes(&context, request, &response), "resuming deletes");
}

absl::StatusOr<int64_t> CountTrackedItems(const std::shared_ptr<grpc::Channel>& channel) {
  const auto stub = v1::ExpiryService::NewStub(channel);
  int64_t items = 0;
  v1::ListExpiryStatusesRequest request;
  do {
    grpc::ClientContext context;
    v1::ListExpiryStatusesResponse page;
    TTL_RETURN_IF_ERROR(ToStatus(stub->ListExpiryStatuses(&context, request, &page), "counting"));
    for (const v1::ContainerExpiryStatus& container : page.containers()) {
      items += container.items().tracked_items();
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return items;
}

absl::StatusOr<int64_t> CountDeletedItems(const std::shared_ptr<grpc::Channel>& channel,
                                          const std::string& container) {
  const auto stub = v1::ExpiryService::NewStub(channel);
  grpc::ClientContext context;
  v1::GetExpiryStatusRequest request;
  request.set_container(container);
  v1::GetExpiryStatusResponse response;
  TTL_RETURN_IF_ERROR(
      ToStatus(stub->GetExpiryStatus(&context, request, &response), "counting deletes"));
  return response.container().deletes().deleted();
}

absl::Status AwaitTrackedItems(const std::shared_ptr<grpc::Channel>& channel, int64_t at_most,
                               absl::Duration deadline) {
  absl::StatusOr<int64_t> tracked;
  const auto is_done = [&] {
    tracked = CountTrackedItems(channel);
    return !tracked.ok() || *tracked <= at_most;
  };
  const bool done = WaitUntil(is_done, deadline, absl::Milliseconds(20));
  TTL_RETURN_IF_ERROR(tracked.status());
  if (done) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat(*tracked, " items are tracked after ", absl::FormatDuration(deadline)));
}

absl::Status AwaitForgotten(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& container, uint64_t item, absl::Duration deadline) {
  const auto stub = v1::ExpiryService::NewStub(channel);
  v1::ExplainItemRequest request;
  request.set_container(container);
  request.set_partition_key(PartitionKeyOf(item));
  request.set_id(IdOf(item));
  grpc::Status status;
  const auto has_ended = [&] {
    grpc::ClientContext context;
    v1::ExplainItemResponse response;
    status = stub->ExplainItem(&context, request, &response);
    return !status.ok();
  };
  if (!WaitUntil(has_ended, deadline, absl::Milliseconds(5))) {
    return absl::DeadlineExceededError(absl::StrCat(
        IdOf(item), " of ", container, " is tracked after ", absl::FormatDuration(deadline)));
  }
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return absl::OkStatus();
  return ToStatus(status, "explaining an item");
}

}  // namespace ttl::bench
