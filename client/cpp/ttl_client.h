#ifndef TTL_CLIENT_CPP_TTL_CLIENT_H_
#define TTL_CLIENT_CPP_TTL_CLIENT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/cpp/checks/visibility_answer.h"
#include "client/cpp/repeat_rule.h"
#include "client/cpp/ttl_client_options.h"
#include "client/cpp/usage_reporter.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/item_service.pb.h"
#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

// Client of a ttl-sidecar, with everything in ttl.v1 that a primary store, an
// operator or a tool needs. Its values are the messages of the API; the comments
// in protos/ttl/v1 describe their fields, limits and errors.
//
// Every call blocks for at most its deadline (see TtlClientOptions) and returns
// the server's status code and message. It returns UNAVAILABLE if the server cannot
// be reached, DEADLINE_EXCEEDED if it does not respond in time, and INTERNAL if its
// response violates the API.
//
// Until its deadline a call waits for a sidecar that is down or restarts (see
// TtlClientOptions::wait_for_sidecar). The client retries reads, and reports in which
// every entry has a sequence, also if it does not know whether they were applied; other
// reports only if the sidecar refused them; operators' changes only if nothing was sent,
// because a repeated change could undo another operator's. repeat_rule.h has the whole
// rule. Streams are not retried.
//
// The plural data-path methods take any number of entries. They send them in
// order, at most kMaxEntriesPerCall per call; the server validates each call as a
// whole and applies all of it or nothing. The first call that fails ends the method.
// If there was more than one call, the error says which entries failed: the entries
// before them are applied, those after them were not sent. Without entries there is
// no call.
//
// Thread-safe. Construction does not connect; the first call connects, and later calls
// reconnect if the connection is lost. gRPC does not support fork: in a child of the
// process that created the client every call fails with FAILED_PRECONDITION, and the
// client must not be destroyed there.
class TtlClient {
 public:
  static constexpr size_t kMaxEntriesPerCall = 1000;

  explicit TtlClient(TtlClientOptions options = {});
  ~TtlClient();

  TtlClient(const TtlClient&) = delete;
  TtlClient& operator=(const TtlClient&) = delete;

  // The address given in the options.
  const std::string& address() const { return options_.address; }

  // Data path. A report is durable when its method returns OK.

  absl::StatusOr<v1::TrackResult> TrackItem(absl::string_view container, const v1::Item& item);
  absl::StatusOr<std::vector<v1::TrackResult>> TrackItems(absl::string_view container,
                                                          absl::Span<const v1::Item> items);
  // As TrackItems, for items that the store had before; see TrackItemsRequest.adopted.
  absl::StatusOr<std::vector<v1::TrackResult>> AdoptItems(absl::string_view container,
                                                          absl::Span<const v1::Item> items);

  absl::StatusOr<v1::UntrackResult> UntrackItem(absl::string_view container,
                                                const v1::ItemDeletion& deletion);
  absl::StatusOr<std::vector<v1::UntrackResult>> UntrackItems(
      absl::string_view container, absl::Span<const v1::ItemDeletion> deletions);

  // Return one answer per check, in order. Concurrent calls of CheckItem() share
  // messages to the sidecar (shared_checks.h), unless TtlClientOptions::share_checks is
  // off.
  absl::StatusOr<VisibilityAnswer> CheckItem(absl::string_view container,
                                             const v1::VisibilityCheck& check);
  absl::StatusOr<std::vector<VisibilityAnswer>> CheckVisibility(
      absl::string_view container, absl::Span<const v1::VisibilityCheck> checks);

  // NOT_FOUND if the item is expired or not tracked.
  absl::StatusOr<v1::GetItemResponse> GetItem(absl::string_view container,
                                              absl::string_view partition_key,
                                              absl::string_view id);

  // One page; the next one starts at next_page_token of the response.
  absl::StatusOr<v1::ListItemsResponse> ListItems(const v1::ListItemsRequest& request);

  // Adds request units to the usage of the container's throughput; call it for every
  // request that the store serves. It is cheap: from the first use on, a thread of the
  // client reports the sum once a second, also if it is zero. Errors are not returned:
  // usage that could not be reported is added to the next report, and the sidecar counts
  // missing reports as full use. Does nothing if TtlClientOptions::report_usage is off.
  void AddUsage(absl::string_view container, double request_units);

  // Containers.

  absl::StatusOr<v1::Container> CreateContainer(const v1::Container& container);
  absl::StatusOr<v1::Container> GetContainer(absl::string_view id);

  // Returns all containers, in the order of their ids.
  absl::StatusOr<std::vector<v1::Container>> ListContainers();

  // Sets the fields in `update_mask` to their values in `container`; a field
  // that is absent there is cleared. Returns the container after the change.
  absl::StatusOr<v1::Container> UpdateContainer(const v1::Container& container,
                                                absl::Span<const std::string> update_mask);

  // Returns what that update would do, without applying it.
  absl::StatusOr<v1::UpdateContainerResponse> PreviewUpdate(
      const v1::Container& container, absl::Span<const std::string> update_mask);

  // ABORTED if `etag` is neither empty nor the current one.
  absl::Status DeleteContainer(absl::string_view id, absl::string_view etag = "");

  // Expiry, for operators.

  // Without a container, returns the status of the sidecar only.
  absl::StatusOr<v1::GetExpiryStatusResponse> GetExpiryStatus(absl::string_view container = "");

  // Returns the status of the sidecar and of all containers, in the order of their ids.
  absl::StatusOr<v1::ListExpiryStatusesResponse> ListExpiryStatuses();

  absl::StatusOr<v1::ExplainItemResponse> ExplainItem(absl::string_view container,
                                                      absl::string_view partition_key,
                                                      absl::string_view id);

  absl::StatusOr<v1::PauseState> PauseDeletes(absl::string_view container,
                                              absl::string_view reason);
  absl::StatusOr<v1::PauseState> PauseAllDeletes(absl::string_view reason);
  absl::Status ResumeDeletes(absl::string_view container);
  absl::Status ResumeAllDeletes();

  absl::StatusOr<v1::ClockStatus> AcceptClock();

  // One page; the next one starts at next_page_token of the response.
  absl::StatusOr<v1::ListStuckItemsResponse> ListStuckItems(
      const v1::ListStuckItemsRequest& request);

  // ABORTED if `etag` is neither empty nor the current one.
  absl::StatusOr<v1::Container> ConfirmPolicy(absl::string_view container,
                                              absl::string_view etag = "");
  absl::Status ConfirmStore(absl::string_view store_id);

  // Set the limit on deletes of all containers, and return the one in force, absent if
  // there is none. 0: no deletes.
  absl::StatusOr<std::optional<double>> SetMaxDeletesPerSecond(double max_deletes_per_second);
  absl::StatusOr<std::optional<double>> SetUnlimitedDeletes();
  // Resets the limit to the server's option.
  absl::StatusOr<std::optional<double>> ResetMaxDeletesPerSecond();

  // Maintenance. Streams have no deadline: they last as long as there is data to read.

  // Starts a reconciliation of a container, or of all if `container` is empty.
  absl::StatusOr<v1::Reconciliation> StartReconciliation(absl::string_view container, bool dry_run);
  absl::StatusOr<v1::Reconciliation> GetReconciliation();
  absl::StatusOr<v1::Reconciliation> CancelReconciliation();
  absl::Status TrustData();
  // Previews CreateContainer() with `container`. Passes each message to `take`; the last one
  // has `finished` set.
  absl::Status PreviewContainer(const v1::Container& container,
                                absl::FunctionRef<void(const v1::PreviewContainerResponse&)> take);
  // Passes each message to `take`; the last one has `finished` set.
  absl::Status VerifyData(absl::FunctionRef<void(const v1::VerifyDataResponse&)> take);
  // Passes each message to `take`, which returns whether to continue. OK also if `take` ended
  // the stream.
  absl::Status BackUpData(absl::FunctionRef<bool(const v1::BackUpDataResponse&)> take);

  // Whether a service of the server's health service is SERVING: "startup", "readiness",
  // "liveness", or "" for the server as a whole. NOT_FOUND for a name it does not know.
  absl::StatusOr<bool> IsServing(absl::string_view health_service);

 private:
  // The channels and generated stubs, whose headers users of this one need not compile.
  struct Stubs;

  // FAILED_PRECONDITION in a child of the process that created this.
  absl::Status CheckProcess() const;

  // Calls `method` of `stub`; `deadline` covers all attempts.
  template <typename Stub, typename Method, typename Request>
  auto Call(Stub& stub, Method method, const Request& request, absl::Duration deadline,
            CallKind kind);
  template <typename Stub, typename Method, typename Request>
  auto Read(Stub& stub, Method method, const Request& request);
  template <typename Stub, typename Method, typename Request>
  auto Change(Stub& stub, Method method, const Request& request);

  // The error of a call whose deadline has passed, with the reason, which gRPC does not give.
  absl::Status TimeoutError(absl::Duration deadline) const;

  absl::StatusOr<v1::UpdateContainerResponse> Update(const v1::Container& container,
                                                     absl::Span<const std::string> update_mask,
                                                     bool validate_only);
  absl::StatusOr<std::optional<double>> SetLimit(const v1::SetMaxDeletesPerSecondRequest& request);
  absl::Status ReportUsage(const v1::ReportUsageRequest& request);

  // One call with at most kMaxEntriesPerCall entries.
  absl::StatusOr<std::vector<v1::TrackResult>> TrackOnce(absl::string_view container,
                                                         absl::Span<const v1::Item> items,
                                                         bool adopted);
  absl::StatusOr<std::vector<v1::UntrackResult>> UntrackOnce(
      absl::string_view container, absl::Span<const v1::ItemDeletion> deletions);
  absl::StatusOr<std::vector<VisibilityAnswer>> CheckOnce(
      absl::string_view container, absl::Span<const v1::VisibilityCheck> checks,
      absl::Duration deadline);
  absl::StatusOr<VisibilityAnswer> CheckAlone(absl::string_view container,
                                              const v1::VisibilityCheck& check,
                                              absl::Duration deadline);

  const TtlClientOptions options_;
  const int process_;
  const std::unique_ptr<Stubs> stubs_;
  UsageReporter usage_;  // last, because its thread uses all of the above
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_TTL_CLIENT_H_
