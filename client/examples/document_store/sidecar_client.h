#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_SIDECAR_CLIENT_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_SIDECAR_CLIENT_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_key.h"
#include "grpcpp/channel.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace documentstore {

// The four calls that a store makes to its sidecar. They block, each at most for its deadline, and
// return the sidecar's status: NOT_FOUND means that the container is unknown. Thread-safe.
class SidecarClient {
 public:
  SidecarClient(const std::shared_ptr<grpc::ChannelInterface>& channel, absl::Duration deadline)
      : stub_(ttl::v1::ItemService::NewStub(channel)), deadline_(deadline) {}

  absl::Status Track(const ttl::v1::TrackItemsRequest& request);
  absl::Status Untrack(const ttl::v1::UntrackItemsRequest& request);

  // The response has one visibility and one expire time per check.
  absl::StatusOr<ttl::v1::CheckVisibilityResponse> Check(
      const ttl::v1::CheckVisibilityRequest& request);

  // Starts the countdown of an item again, unless it has started within the last second.
  // FAILED_PRECONDITION if the container does not allow it.
  absl::StatusOr<ttl::v1::TouchResult> Touch(const DocumentKey& key);

  // NOT_FOUND if the sidecar does not know the container. Calls the sidecar only if no earlier call
  // has shown that it does, so OK may be out of date.
  absl::Status RequireContainer(const std::string& container);

 private:
  template <typename Request, typename Response>
  absl::Status Call(grpc::Status (ttl::v1::ItemService::Stub::*method)(grpc::ClientContext*,
                                                                       const Request&, Response*),
                    const Request& request, Response* response);

  const std::unique_ptr<ttl::v1::ItemService::Stub> stub_;
  const absl::Duration deadline_;
  std::mutex mutex_;
  std::set<std::string> known_containers_;  // guarded by mutex_
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_SIDECAR_CLIENT_H_
