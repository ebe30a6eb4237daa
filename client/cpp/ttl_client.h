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

// Client of a ttl-sidecar: everything of ttl.v1 that a primary store, an
// operator or a tool needs. Values are the messages of the API; their comments
// in protos/ttl/v1 say what fields mean, which limits they have and which
// errors there are.
//
// Every call blocks for at most its deadline (see TtlClientOptions) and returns
// the server's status code with the server's message; a server that cannot be
// reached is UNAVAILABLE, one that does not answer DEADLINE_EXCEEDED, an answer
// that is not as the API says INTERNAL.
//
// Until its deadline a call waits for a sidecar that is away or restarts (see
// TtlClientOptions::wait_for_sidecar). Reads, and reports in which each entry has a
// sequence, are sent again when their fate is not known; other reports when the sidecar
// refused them; changes by operators only if nothing was sent: one could undo somebody
// else's. repeat_rule.h has the whole rule. Streams are not repeated.
//
// Entries of the plural data-path methods may be any number. They are sent in
// order, kMaxEntriesPerCall at a time; each such call is checked as a whole by
// the server and applied as a whole or not at all. The first that fails ends
// the method, and if there was more than one call, the error says which entries
// it was about: what came before is applied, what comes after was not sent. No
// entries: no call.
//
// Thread-safe. Construction does not connect; the connection is made by the
// first call and remade when it is lost. gRPC does not survive a fork: in a child of the
// process that made the client every call is FAILED_PRECONDITION, and the client must not
// be destroyed there.
class TtlClient {
 public:
  static constexpr size_t kMaxEntriesPerCall = 1000;

  explicit TtlClient(TtlClientOptions options = {});
  ~TtlClient();

  TtlClient(const TtlClient&) = delete;
  TtlClient& operator=(const TtlClient&) = delete;

  // The address given in the options.
  const std::string& address() const { return options_.address; }

  // Data path. Reports are durable when they are answered.

  absl::StatusOr<v1::TrackResult> TrackItem(absl::string_view container, const v1::Item& item);
  absl::StatusOr<std::vector<v1::TrackResult>> TrackItems(absl::string_view container,
                                                          absl::Span<const v1::Item> items);
  // The same for what the store has had all along; see TrackItemsRequest.adopted.
  absl::StatusOr<std::vector<v1::TrackResult>> AdoptItems(absl::string_view container,
                                                          absl::Span<const v1::Item> items);

  absl::StatusOr<v1::UntrackResult> UntrackItem(absl::string_view container,
                                                const v1::ItemDeletion& deletion);
  absl::StatusOr<std::vector<v1::UntrackResult>> UntrackItems(
      absl::string_view container, absl::Span<const v1::ItemDeletion> deletions);

  // One answer per check, in order. What threads ask by CheckItem() at the same time
  // shares messages to the sidecar (shared_checks.h), unless
  // TtlClientOptions::share_checks is off.
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

  // Adds to what requests have used of the container's throughput, in request units;
  // to be called for every request that the store serves. Cheap: the client adds up and
  // reports once a second, by a thread of its own, from the first use on also when
  // nothing was used. Failures are nobody's business here: the sidecar takes silence for
  // full use, and what could not be told is told later. Does nothing if
  // TtlClientOptions::report_usage is off.
  void AddUsage(absl::string_view container, double request_units);

  // Containers.

  absl::StatusOr<v1::Container> CreateContainer(const v1::Container& container);
  absl::StatusOr<v1::Container> GetContainer(absl::string_view id);

  // All containers, in the order of their ids.
  absl::StatusOr<std::vector<v1::Container>> ListContainers();

  // Sets the fields in `update_mask` to their values in `container`; a field
  // that is absent there is removed. Returns the container after the change.
  absl::StatusOr<v1::Container> UpdateContainer(const v1::Container& container,
                                                absl::Span<const std::string> update_mask);

  // What that change would do; nothing is changed.
  absl::StatusOr<v1::UpdateContainerResponse> PreviewUpdate(
      const v1::Container& container, absl::Span<const std::string> update_mask);

  // ABORTED if `etag` is neither empty nor the current one.
  absl::Status DeleteContainer(absl::string_view id, absl::string_view etag = "");

  // Expiry, for operators.

  // Without a container: the status of the sidecar alone.
  absl::StatusOr<v1::GetExpiryStatusResponse> GetExpiryStatus(absl::string_view container = "");

  // The status of the sidecar and of all containers, in the order of their ids.
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

  // The limit on deletes of all containers; answers the one in force, absent if there is
  // none. 0: no deletes.
  absl::StatusOr<std::optional<double>> SetMaxDeletesPerSecond(double max_deletes_per_second);
  absl::StatusOr<std::optional<double>> SetUnlimitedDeletes();
  // Back to what the server's option says.
  absl::StatusOr<std::optional<double>> ResetMaxDeletesPerSecond();

  // Maintenance. Streams have no deadline: they last as long as there is data to read.

  // Begins a reconciliation of a container, or of all if it is empty.
  absl::StatusOr<v1::Reconciliation> StartReconciliation(absl::string_view container, bool dry_run);
  absl::StatusOr<v1::Reconciliation> GetReconciliation();
  absl::StatusOr<v1::Reconciliation> CancelReconciliation();
  absl::Status TrustData();
  // What CreateContainer() with `container` would do. Gives each message to `take`, the last
  // one is finished.
  absl::Status PreviewContainer(const v1::Container& container,
                                absl::FunctionRef<void(const v1::PreviewContainerResponse&)> take);
  // Gives each message to `take`, the last one is finished.
  absl::Status VerifyData(absl::FunctionRef<void(const v1::VerifyDataResponse&)> take);
  // The same; `take` says whether to go on. OK also if it ended the stream.
  absl::Status BackUpData(absl::FunctionRef<bool(const v1::BackUpDataResponse&)> take);

  // Whether a service of the server's health service is SERVING: "startup", "readiness",
  // "liveness", or "" for the server as a whole. NOT_FOUND for a name it does not know.
  absl::StatusOr<bool> IsServing(absl::string_view health_service);

 private:
  // The channels and the generated stubs, whose headers are not for everybody to compile.
  struct Stubs;

  // FAILED_PRECONDITION in a child of the process that made this.
  absl::Status CheckProcess() const;

  // Calls `method` of `stub` with `deadline` for all attempts together.
  template <typename Stub, typename Method, typename Request>
  auto Call(Stub& stub, Method method, const Request& request, absl::Duration deadline,
            CallKind kind);
  template <typename Stub, typename Method, typename Request>
  auto Read(Stub& stub, Method method, const Request& request);
  template <typename Stub, typename Method, typename Request>
  auto Change(Stub& stub, Method method, const Request& request);

  // The error of a call whose time is over, which gRPC does not explain.
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
  UsageReporter usage_;  // last: its thread uses all the others
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_TTL_CLIENT_H_
