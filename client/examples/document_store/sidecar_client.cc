#include "client/examples/document_store/sidecar_client.h"

#include "absl/time/clock.h"
#include "grpcpp/client_context.h"

namespace documentstore {

template <typename Request, typename Response>
absl::Status SidecarClient::Call(grpc::Status (ttl::v1::ItemService::Stub::*method)(
                                     grpc::ClientContext*, const Request&, Response*),
                                 const Request& request, Response* response) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + deadline_));
  const grpc::Status status = (stub_.get()->*method)(&context, request, response);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (status.ok()) known_containers_.insert(request.container());
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
    known_containers_.erase(request.container());
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

absl::Status SidecarClient::Track(const ttl::v1::TrackItemsRequest& request) {
  ttl::v1::TrackItemsResponse response;
  return Call(&ttl::v1::ItemService::Stub::TrackItems, request, &response);
}

absl::Status SidecarClient::Untrack(const ttl::v1::UntrackItemsRequest& request) {
  ttl::v1::UntrackItemsResponse response;
  return Call(&ttl::v1::ItemService::Stub::UntrackItems, request, &response);
}

absl::StatusOr<ttl::v1::CheckVisibilityResponse> SidecarClient::Check(
    const ttl::v1::CheckVisibilityRequest& request) {
  ttl::v1::CheckVisibilityResponse response;
  auto status = Call(&ttl::v1::ItemService::Stub::CheckVisibility, request, &response);
  if (!status.ok()) return status;
  if (response.visibilities_size() != request.checks_size() ||
      response.expire_times_size() != request.checks_size()) {
    return absl::InternalError("not as many answers as checks");
  }
  return response;
}

absl::StatusOr<ttl::v1::TouchResult> SidecarClient::Touch(const DocumentKey& key) {
  ttl::v1::TouchItemsRequest request;
  request.set_container(key.container);
  ttl::v1::ItemKey& item = *request.add_keys();
  item.set_partition_key(key.partition_key);
  item.set_id(key.id);
  // Times are whole seconds: a second touch within one would gain nothing, and cost a write.
  request.mutable_unless_touched_within()->set_seconds(1);
  ttl::v1::TouchItemsResponse response;
  auto status = Call(&ttl::v1::ItemService::Stub::TouchItems, request, &response);
  if (!status.ok()) return status;
  if (response.results_size() != 1) return absl::InternalError("not as many results as keys");
  return response.results(0);
}

absl::Status SidecarClient::RequireContainer(const std::string& container) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (known_containers_.contains(container)) return absl::OkStatus();
  }
  ttl::v1::CheckVisibilityRequest request;
  request.set_container(container);
  request.add_checks();  // any key; only the container matters
  return Check(request).status();
}

}  // namespace documentstore
