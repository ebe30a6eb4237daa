#include "ttl/container_client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/cpp/client_calls.h"
#include "client/cpp/page_loop.h"

namespace ttl {
namespace {

using ContainerStub = v1::ContainerService::Stub;

v1::UpdateContainerRequest UpdateOf(const v1::Container& container,
                                    absl::Span<const std::string> update_mask) {
  v1::UpdateContainerRequest request;
  *request.mutable_container() = container;
  for (const std::string& path : update_mask) request.mutable_update_mask()->add_paths(path);
  return request;
}

}  // namespace

absl::StatusOr<v1::Container> ContainerClient::Create(const v1::Container& container) {
  v1::CreateContainerRequest request;
  *request.mutable_container() = container;
  auto response = calls_.Change(calls_.containers(), &ContainerStub::CreateContainer, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::Status ContainerClient::PreviewCreate(
    const v1::Container& container,
    absl::FunctionRef<void(const v1::PreviewContainerResponse&)> take) {
  v1::PreviewContainerRequest request;
  *request.mutable_container() = container;
  bool finished = false;
  absl::Status status = calls_.ReadStream<v1::PreviewContainerResponse>(
      [&](grpc::ClientContext* context) {
        return calls_.maintenance().PreviewContainer(context, request);
      },
      [&](const v1::PreviewContainerResponse& message) {
        finished = message.finished();
        take(message);
        return true;
      });
  if (!status.ok() || finished) return status;
  return absl::InternalError("the server ended the preview before it was finished");
}

absl::StatusOr<v1::Container> ContainerClient::Get(absl::string_view id) {
  v1::GetContainerRequest request;
  request.set_id(std::string(id));
  auto response = calls_.Read(calls_.containers(), &ContainerStub::GetContainer, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::StatusOr<std::vector<v1::Container>> ContainerClient::List() {
  return List(v1::ListContainersRequest());
}

absl::StatusOr<std::vector<v1::Container>> ContainerClient::List(
    const v1::ListContainersRequest& request) {
  std::vector<v1::Container> containers;
  v1::ListContainersRequest page_request = request;
  page_request.set_page_size(kLargestPage);
  const absl::Status status =
      ForEachPage([&](const std::string& token) -> absl::StatusOr<std::string> {
        page_request.set_page_token(token);
        auto page = calls_.Read(calls_.containers(), &ContainerStub::ListContainers, page_request);
        if (!page.ok()) return page.status();
        std::move(page->mutable_containers()->begin(), page->mutable_containers()->end(),
                  std::back_inserter(containers));
        return page->next_page_token();
      });
  if (!status.ok()) return status;
  return containers;
}

absl::StatusOr<v1::Container> ContainerClient::Update(const v1::Container& container,
                                                      absl::Span<const std::string> update_mask) {
  return Update(UpdateOf(container, update_mask));
}

absl::StatusOr<v1::Container> ContainerClient::Update(const v1::UpdateContainerRequest& request) {
  auto response = calls_.Change(calls_.containers(), &ContainerStub::UpdateContainer, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::StatusOr<v1::UpdateContainerResponse> ContainerClient::PreviewUpdate(
    const v1::Container& container, absl::Span<const std::string> update_mask) {
  return PreviewUpdate(UpdateOf(container, update_mask));
}

absl::StatusOr<v1::UpdateContainerResponse> ContainerClient::PreviewUpdate(
    v1::UpdateContainerRequest request) {
  request.set_validate_only(true);
  return calls_.Change(calls_.containers(), &ContainerStub::UpdateContainer, request);
}

absl::Status ContainerClient::Delete(absl::string_view id, absl::string_view etag) {
  v1::DeleteContainerRequest request;
  request.set_id(std::string(id));
  request.set_etag(std::string(etag));
  return Delete(request);
}

absl::Status ContainerClient::Delete(const v1::DeleteContainerRequest& request) {
  return calls_.Change(calls_.containers(), &ContainerStub::DeleteContainer, request).status();
}

}  // namespace ttl
