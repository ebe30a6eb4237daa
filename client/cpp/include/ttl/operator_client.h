#ifndef TTL_OPERATOR_CLIENT_H_
#define TTL_OPERATOR_CLIENT_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ttl/v1/container.pb.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/hold_service.pb.h"
#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

class ClientCalls;

// The status of a sidecar and what its operators do; see TtlClient::operations(), whose rules for
// deadlines, retries and errors apply. A change is sent at most once, except PlaceHold(). Streams
// have no deadline: they last as long as there is data to read. Thread-safe.
class OperatorClient {
 public:
  OperatorClient(const OperatorClient&) = delete;
  OperatorClient& operator=(const OperatorClient&) = delete;

  // Without a container, returns the status of the sidecar only.
  absl::StatusOr<v1::GetExpiryStatusResponse> GetExpiryStatus(absl::string_view container = "");

  // Returns the status of the sidecar and of all containers, in the order of their ids.
  absl::StatusOr<v1::ListExpiryStatusesResponse> ListExpiryStatuses();

  absl::StatusOr<v1::ExplainItemResponse> ExplainItem(absl::string_view container,
                                                      absl::string_view partition_key,
                                                      absl::string_view id);

  // How many items will expire, step by step, and when deletes have caught up with them.
  absl::StatusOr<v1::GetForecastResponse> GetForecast(const v1::GetForecastRequest& request);

  // One page; the next one starts at next_page_token of the response.
  absl::StatusOr<v1::ListStuckItemsResponse> ListStuckItems(
      const v1::ListStuckItemsRequest& request);

  // Whether a service of the server's health service is SERVING: "startup", "readiness",
  // "liveness", or "" for the server as a whole. NOT_FOUND for a name it does not know. Does not
  // wait for a sidecar that is down.
  absl::StatusOr<bool> IsServing(absl::string_view health_service);

  // What holds deletes back.

  absl::StatusOr<v1::PauseState> PauseDeletes(absl::string_view container,
                                              absl::string_view reason);
  absl::StatusOr<v1::PauseState> PauseAllDeletes(absl::string_view reason);
  absl::Status ResumeDeletes(absl::string_view container);
  absl::Status ResumeAllDeletes();

  absl::StatusOr<v1::ClockStatus> AcceptClock();

  // ABORTED if `etag` is neither empty nor the current one.
  absl::StatusOr<v1::Container> ConfirmPolicy(absl::string_view container,
                                              absl::string_view etag = "");
  absl::Status ConfirmStore(absl::string_view store_id);

  // Set the limit on deletes of all containers, and return the one in force, absent if there is
  // none. 0: no deletes.
  absl::StatusOr<std::optional<double>> SetMaxDeletesPerSecond(double max_deletes_per_second);
  absl::StatusOr<std::optional<double>> SetUnlimitedDeletes();
  // Resets the limit to the server's option.
  absl::StatusOr<std::optional<double>> ResetMaxDeletesPerSecond();

  // Holds; see HoldService.

  // Retried as a read, because holding twice is harmless. It waits for the deletes that are in
  // flight: if the sidecar's --delete-deadline-seconds is longer than admin_deadline, it may fail
  // with DEADLINE_EXCEEDED although the hold is placed. Call it again until it returns OK.
  absl::StatusOr<v1::PlaceHoldResponse> PlaceHold(const v1::PlaceHoldRequest& request);

  // If an earlier call failed without a response, NOT_FOUND may mean that it released the hold.
  absl::Status ReleaseHold(absl::string_view container, absl::string_view hold_id);

  // Returns the holds of a container, or all holds, in the order of (container, hold_id).
  absl::StatusOr<std::vector<v1::Hold>> ListHolds(absl::string_view container = "");

  // One page, of up to 1000 keys; the next one starts at next_page_token of the response.
  absl::StatusOr<v1::ListHeldKeysResponse> ListHeldKeys(const v1::ListHeldKeysRequest& request);

  absl::Status AcceptHolds(absl::string_view container);

  // Maintenance.

  // Starts a reconciliation of a container, or of all if `container` is empty.
  absl::StatusOr<v1::Reconciliation> StartReconciliation(absl::string_view container, bool dry_run);
  absl::StatusOr<v1::Reconciliation> GetReconciliation();
  absl::StatusOr<v1::Reconciliation> CancelReconciliation();
  absl::Status TrustData();
  // Passes each message to `take`; the last one has `finished` set.
  absl::Status VerifyData(absl::FunctionRef<void(const v1::VerifyDataResponse&)> take);
  // Passes each message to `take`, which returns whether to continue. OK also if `take` ended the
  // stream.
  absl::Status BackUpData(absl::FunctionRef<bool(const v1::BackUpDataResponse&)> take);

 private:
  friend class TtlClient;

  // `calls` must outlive this.
  explicit OperatorClient(ClientCalls& calls) : calls_(calls) {}

  absl::StatusOr<v1::PauseState> Pause(const v1::PauseDeletesRequest& request);
  absl::StatusOr<std::optional<double>> SetLimit(const v1::SetMaxDeletesPerSecondRequest& request);

  ClientCalls& calls_;
};

}  // namespace ttl

#endif  // TTL_OPERATOR_CLIENT_H_
