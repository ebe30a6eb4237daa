#include "tests/integration/sidecar_calls.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

absl::Status ToAbsl(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

template <typename Response, typename Stub, typename Method, typename Request>
absl::StatusOr<Response> Call(Stub& stub, Method method, const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  Response response;
  const absl::Status status = ToAbsl((stub.*method)(&context, request, &response));
  if (!status.ok()) return status;
  return response;
}

}  // namespace

SidecarCalls::SidecarCalls(const std::shared_ptr<grpc::Channel>& channel)
    : containers_(v1::ContainerService::NewStub(channel)),
      items_(v1::ItemService::NewStub(channel)),
      expiry_(v1::ExpiryService::NewStub(channel)) {}

absl::Status SidecarCalls::CreateContainer(const std::string& id,
                                           std::optional<int64_t> default_ttl) {
  v1::CreateContainerRequest request;
  request.mutable_container()->set_id(id);
  if (default_ttl.has_value()) request.mutable_container()->set_default_ttl(*default_ttl);
  return Call<v1::CreateContainerResponse>(*containers_,
                                           &v1::ContainerService::Stub::CreateContainer, request)
      .status();
}

absl::Status SidecarCalls::SetDeletePolicy(const std::string& id, const v1::DeletePolicy& policy) {
  v1::UpdateContainerRequest request;
  request.mutable_container()->set_id(id);
  *request.mutable_container()->mutable_delete_policy() = policy;
  request.mutable_update_mask()->add_paths("delete_policy");
  return Call<v1::UpdateContainerResponse>(*containers_,
                                           &v1::ContainerService::Stub::UpdateContainer, request)
      .status();
}

absl::Status SidecarCalls::SetDefaultTtl(const std::string& id,
                                         std::optional<int64_t> default_ttl) {
  v1::UpdateContainerRequest request;
  request.mutable_container()->set_id(id);
  if (default_ttl.has_value()) request.mutable_container()->set_default_ttl(*default_ttl);
  request.mutable_update_mask()->add_paths("default_ttl");
  return Call<v1::UpdateContainerResponse>(*containers_,
                                           &v1::ContainerService::Stub::UpdateContainer, request)
      .status();
}

absl::StatusOr<v1::Container> SidecarCalls::GetContainer(const std::string& id) {
  v1::GetContainerRequest request;
  request.set_id(id);
  const auto response = Call<v1::GetContainerResponse>(
      *containers_, &v1::ContainerService::Stub::GetContainer, request);
  if (!response.ok()) return response.status();
  return response->container();
}

absl::Status SidecarCalls::Track(const std::string& container, const std::string& id, int64_t ts,
                                 std::optional<int64_t> ttl) {
  v1::TrackItemsRequest request;
  request.set_container(container);
  v1::Item& item = *request.add_items();
  item.set_partition_key(id);
  item.set_id(id);
  item.set_ts(ts);
  if (ttl.has_value()) item.set_ttl(*ttl);
  return Call<v1::TrackItemsResponse>(*items_, &v1::ItemService::Stub::TrackItems, request)
      .status();
}

absl::Status SidecarCalls::TrackMany(const std::string& container, const std::string& prefix,
                                     int64_t count, int64_t ts, std::optional<int64_t> ttl) {
  constexpr int64_t kItemsPerCall = 1000;
  for (int64_t first = 0; first < count; first += kItemsPerCall) {
    v1::TrackItemsRequest request;
    request.set_container(container);
    for (int64_t i = first; i < std::min(first + kItemsPerCall, count); ++i) {
      v1::Item& item = *request.add_items();
      item.set_id(absl::StrCat(prefix, i));
      item.set_ts(ts);
      if (ttl.has_value()) item.set_ttl(*ttl);
    }
    const absl::Status status =
        Call<v1::TrackItemsResponse>(*items_, &v1::ItemService::Stub::TrackItems, request).status();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Visibility> SidecarCalls::Check(const std::string& container,
                                                   const std::string& id) {
  v1::CheckVisibilityRequest request;
  request.set_container(container);
  v1::VisibilityCheck& check = *request.add_checks();
  check.set_partition_key(id);
  check.set_id(id);
  const auto response =
      Call<v1::CheckVisibilityResponse>(*items_, &v1::ItemService::Stub::CheckVisibility, request);
  if (!response.ok()) return response.status();
  return response->visibilities(0);
}

absl::Status SidecarCalls::Pause(const std::string& container, const std::string& reason) {
  v1::PauseDeletesRequest request;
  request.set_container(container);
  request.set_reason(reason);
  return Call<v1::PauseDeletesResponse>(*expiry_, &v1::ExpiryService::Stub::PauseDeletes, request)
      .status();
}

absl::Status SidecarCalls::Resume(const std::string& container) {
  v1::ResumeDeletesRequest request;
  request.set_container(container);
  return Call<v1::ResumeDeletesResponse>(*expiry_, &v1::ExpiryService::Stub::ResumeDeletes, request)
      .status();
}

absl::Status SidecarCalls::SetMaxDeletesPerSecond(double per_second) {
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_max_deletes_per_second(per_second);
  return Call<v1::SetMaxDeletesPerSecondResponse>(
             *expiry_, &v1::ExpiryService::Stub::SetMaxDeletesPerSecond, request)
      .status();
}

absl::StatusOr<v1::GetExpiryStatusResponse> SidecarCalls::GetStatus(const std::string& container) {
  v1::GetExpiryStatusRequest request;
  request.set_container(container);
  return Call<v1::GetExpiryStatusResponse>(*expiry_, &v1::ExpiryService::Stub::GetExpiryStatus,
                                           request);
}

}  // namespace ttl
