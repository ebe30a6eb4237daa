#ifndef TTL_CONTAINER_CLIENT_H_
#define TTL_CONTAINER_CLIENT_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

class ClientCalls;

// Containers and their policies, for whoever sets stores up; see TtlClient::containers(), whose
// rules for deadlines, retries and errors apply. A change is sent at most once. Thread-safe.
class ContainerClient {
 public:
  ContainerClient(const ContainerClient&) = delete;
  ContainerClient& operator=(const ContainerClient&) = delete;

  absl::StatusOr<v1::Container> Create(const v1::Container& container);

  // Passes each message of what Create() would do to the items of the store to `take`; the last one
  // has `finished` set. Has no deadline: it lasts as long as there are items to read.
  absl::Status PreviewCreate(const v1::Container& container,
                             absl::FunctionRef<void(const v1::PreviewContainerResponse&)> take);

  absl::StatusOr<v1::Container> Get(absl::string_view id);

  // Returns all containers, in the order of their ids.
  absl::StatusOr<std::vector<v1::Container>> List();

  // The same for those that pass the filters of `request`, whose page_size and page_token are not
  // used.
  absl::StatusOr<std::vector<v1::Container>> List(const v1::ListContainersRequest& request);

  // Sets the fields in `update_mask` to their values in `container`; a field that is absent there
  // is cleared. Returns the container after the change.
  absl::StatusOr<v1::Container> Update(const v1::Container& container,
                                       absl::Span<const std::string> update_mask);

  // The same with the other fields of the request, such as `force`.
  absl::StatusOr<v1::Container> Update(const v1::UpdateContainerRequest& request);

  // Returns what that update would do, without applying it.
  absl::StatusOr<v1::UpdateContainerResponse> PreviewUpdate(
      const v1::Container& container, absl::Span<const std::string> update_mask);

  // The same with the other fields of the request; validate_only is set.
  absl::StatusOr<v1::UpdateContainerResponse> PreviewUpdate(v1::UpdateContainerRequest request);

  // ABORTED if `etag` is neither empty nor the current one.
  absl::Status Delete(absl::string_view id, absl::string_view etag = "");

  // The same with the other fields of the request: `force` deletes a container with holds.
  absl::Status Delete(const v1::DeleteContainerRequest& request);

 private:
  friend class TtlClient;

  // `calls` must outlive this.
  explicit ContainerClient(ClientCalls& calls) : calls_(calls) {}

  ClientCalls& calls_;
};

}  // namespace ttl

#endif  // TTL_CONTAINER_CLIENT_H_
