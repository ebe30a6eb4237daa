#include "client/cpp/ttl_client.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/checks/shared_checks.h"
#include "client/cpp/checks/visibility_answers.h"
#include "client/cpp/checks/wrong_length.h"
#include "client/cpp/client_channel.h"
#include "client/cpp/grpc_status.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/support/time.h"
#include "grpcpp/client_context.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {
namespace {

constexpr int kMaxPageSize = 1000;

constexpr std::chrono::seconds kUsageInterval(1);

SharedChecks::Options SharedChecksOptions(const std::string& address) {
  SharedChecks::Options options;
  options.address = address;
  return options;
}

// A relative deadline, which steps of the wall clock do not affect.
gpr_timespec DeadlineIn(absl::Duration duration) {
  const int64_t milliseconds =
      std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 0, int64_t{365} * 24 * 3600 * 1000);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(milliseconds, GPR_TIMESPAN));
}

absl::Duration Since(std::chrono::steady_clock::time_point start) {
  return absl::FromChrono(std::chrono::steady_clock::now() - start);
}

// From 0 to 1.
double RandomFraction() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(random);
}

bool MayBeSentTwice(CallKind kind) {
  return kind == CallKind::kRead || kind == CallKind::kOrderedReport;
}

template <typename Entry>
CallKind KindOfReport(absl::Span<const Entry> entries) {
  const bool ordered = std::all_of(entries.begin(), entries.end(),
                                   [](const Entry& entry) { return entry.has_sequence(); });
  return ordered ? CallKind::kOrderedReport : CallKind::kReport;
}

// Sends `entries` in order, at most kMaxEntriesPerCall at a time, and joins the
// results.
template <typename Entry, typename Result>
absl::StatusOr<std::vector<Result>> SendInCalls(
    absl::Span<const Entry> entries,
    absl::FunctionRef<absl::StatusOr<std::vector<Result>>(absl::Span<const Entry>)> send) {
  std::vector<Result> joined;
  joined.reserve(entries.size());
  for (size_t first = 0; first < entries.size(); first += TtlClient::kMaxEntriesPerCall) {
    const absl::Span<const Entry> part = entries.subspan(first, TtlClient::kMaxEntriesPerCall);
    absl::StatusOr<std::vector<Result>> results = send(part);
    if (!results.ok() && part.size() < entries.size()) {
      return absl::Status(results.status().code(),
                          absl::StrCat("entries ", first, " to ", first + part.size() - 1, " of ",
                                       entries.size(), ": ", results.status().message()));
    }
    if (!results.ok()) return results.status();
    joined.insert(joined.end(), results->begin(), results->end());
  }
  return joined;
}

template <typename Result>
absl::StatusOr<Result> OnlyOne(absl::StatusOr<std::vector<Result>> results) {
  if (!results.ok()) return results.status();
  return std::move(results->front());
}

template <typename Result>
std::vector<Result> ToEnums(const google::protobuf::RepeatedField<int>& values) {
  std::vector<Result> results;
  results.reserve(values.size());
  for (const int value : values) results.push_back(static_cast<Result>(value));
  return results;
}

// Calls `fetch` for each page; it returns the token of the next page, or none.
absl::Status ForEachPage(
    absl::FunctionRef<absl::StatusOr<std::string>(const std::string& token)> fetch) {
  std::string token;
  do {
    absl::StatusOr<std::string> next = fetch(token);
    if (!next.ok()) return next.status();
    if (!next->empty() && *next == token) {
      return absl::InternalError("the server answered a page with the page's own token");
    }
    token = *std::move(next);
  } while (!token.empty());
  return absl::OkStatus();
}

}  // namespace

struct TtlClient::Stubs {
  Stubs(const TtlClientOptions& options, SharedChecks::AskAlone check_alone)
      : channel(NewClientChannel(options)),
        shared_checks(*items, SharedChecksOptions(options.address), std::move(check_alone)) {}

  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<v1::ItemService::Stub> items = v1::ItemService::NewStub(channel);
  const std::unique_ptr<v1::ContainerService::Stub> containers =
      v1::ContainerService::NewStub(channel);
  const std::unique_ptr<v1::ExpiryService::Stub> expiry = v1::ExpiryService::NewStub(channel);
  const std::unique_ptr<v1::MaintenanceService::Stub> maintenance =
      v1::MaintenanceService::NewStub(channel);
  const std::unique_ptr<grpc::health::v1::Health::Stub> health =
      grpc::health::v1::Health::NewStub(channel);
  SharedChecks shared_checks;
};

TtlClient::TtlClient(TtlClientOptions options)
    : options_(std::move(options)),
      process_(getpid()),
      stubs_(std::make_unique<Stubs>(
          options_,
          [this](absl::string_view container, const v1::VisibilityCheck& check,
                 absl::Duration deadline) { return CheckAlone(container, check, deadline); })),
      usage_(kUsageInterval,
             [this](const v1::ReportUsageRequest& request) { return ReportUsage(request); }) {}

TtlClient::~TtlClient() = default;

namespace {

// The response of a blocking method of a generated stub.
template <typename Stub, typename Request, typename Response>
Response ResponseOf(grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*));

}  // namespace

absl::Status TtlClient::CheckProcess() const {
  if (getpid() == process_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the client of the sidecar at ", options_.address,
                   " was made before fork(); make one in the child"));
}

absl::Status TtlClient::TimeoutError(absl::Duration deadline) const {
  if (stubs_->channel->GetState(/*try_to_connect=*/false) != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    return ToAbslStatus({grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"},
                        options_.address, deadline);
  }
  return ToAbslStatus({grpc::StatusCode::UNAVAILABLE,
                       absl::StrCat("no connection within ", absl::FormatDuration(deadline))},
                      options_.address, deadline);
}

template <typename Stub, typename Method, typename Request>
auto TtlClient::Call(Stub& stub, Method method, const Request& request, absl::Duration deadline,
                     CallKind kind) {
  using Response = decltype(ResponseOf(method));
  using Result = absl::StatusOr<Response>;
  if (absl::Status status = CheckProcess(); !status.ok()) return Result(std::move(status));
  const bool waits = options_.wait_for_sidecar && kind != CallKind::kNow;
  const auto start = std::chrono::steady_clock::now();
  absl::Status unavailable;
  for (int attempt = 1;; ++attempt) {
    const absl::Duration left = deadline - Since(start);
    grpc::ClientContext context;
    context.set_deadline(DeadlineIn(left));
    // A call that must not be sent twice waits for a connection from the start. For others the
    // first attempt fails without one, which gives the reason.
    context.set_wait_for_ready(waits && (attempt > 1 || !MayBeSentTwice(kind)));
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (status.ok()) return Result(std::move(response));
    const FailedAttempt failure = FailureOf(context, status, attempt);
    if (failure.code == grpc::StatusCode::DEADLINE_EXCEEDED) {
      // Prefer the reason why there was no answer over the mere timeout.
      return Result(unavailable.ok() ? TimeoutError(deadline) : unavailable);
    }
    absl::Status error =
        ToAbslStatus({failure.code, status.error_message()}, options_.address, deadline);
    const auto pause =
        PauseBeforeRepeat(kind, failure, waits, deadline - Since(start), RandomFraction());
    if (!pause.has_value()) return Result(std::move(error));
    if (failure.code == grpc::StatusCode::UNAVAILABLE) unavailable = std::move(error);
    absl::SleepFor(*pause);
  }
}

template <typename Stub, typename Method, typename Request>
auto TtlClient::Read(Stub& stub, Method method, const Request& request) {
  return Call(stub, method, request, options_.admin_deadline, CallKind::kRead);
}

template <typename Stub, typename Method, typename Request>
auto TtlClient::Change(Stub& stub, Method method, const Request& request) {
  return Call(stub, method, request, options_.admin_deadline, CallKind::kChange);
}

absl::StatusOr<v1::TrackResult> TtlClient::TrackItem(absl::string_view container,
                                                     const v1::Item& item) {
  return OnlyOne(TrackItems(container, absl::MakeConstSpan(&item, 1)));
}

absl::StatusOr<std::vector<v1::TrackResult>> TtlClient::TrackItems(
    absl::string_view container, absl::Span<const v1::Item> items) {
  return SendInCalls<v1::Item, v1::TrackResult>(items, [&](absl::Span<const v1::Item> part) {
    return TrackOnce(container, part, /*adopted=*/false);
  });
}

absl::StatusOr<std::vector<v1::TrackResult>> TtlClient::AdoptItems(
    absl::string_view container, absl::Span<const v1::Item> items) {
  return SendInCalls<v1::Item, v1::TrackResult>(items, [&](absl::Span<const v1::Item> part) {
    return TrackOnce(container, part, /*adopted=*/true);
  });
}

absl::StatusOr<std::vector<v1::TrackResult>> TtlClient::TrackOnce(absl::string_view container,
                                                                  absl::Span<const v1::Item> items,
                                                                  bool adopted) {
  v1::TrackItemsRequest request;
  request.set_container(std::string(container));
  request.set_adopted(adopted);
  request.mutable_items()->Assign(items.begin(), items.end());
  const absl::StatusOr<v1::TrackItemsResponse> response =
      Call(*stubs_->items, &v1::ItemService::Stub::TrackItems, request, options_.report_deadline,
           KindOfReport(items));
  if (!response.ok()) return response.status();
  if (response->results_size() != request.items_size()) {
    return WrongLength("TrackItems", "results", response->results_size(), items.size());
  }
  return ToEnums<v1::TrackResult>(response->results());
}

absl::StatusOr<v1::UntrackResult> TtlClient::UntrackItem(absl::string_view container,
                                                         const v1::ItemDeletion& deletion) {
  return OnlyOne(UntrackItems(container, absl::MakeConstSpan(&deletion, 1)));
}

absl::StatusOr<std::vector<v1::UntrackResult>> TtlClient::UntrackItems(
    absl::string_view container, absl::Span<const v1::ItemDeletion> deletions) {
  return SendInCalls<v1::ItemDeletion, v1::UntrackResult>(
      deletions,
      [&](absl::Span<const v1::ItemDeletion> part) { return UntrackOnce(container, part); });
}

absl::StatusOr<std::vector<v1::UntrackResult>> TtlClient::UntrackOnce(
    absl::string_view container, absl::Span<const v1::ItemDeletion> deletions) {
  v1::UntrackItemsRequest request;
  request.set_container(std::string(container));
  request.mutable_items()->Assign(deletions.begin(), deletions.end());
  const absl::StatusOr<v1::UntrackItemsResponse> response =
      Call(*stubs_->items, &v1::ItemService::Stub::UntrackItems, request, options_.report_deadline,
           KindOfReport(deletions));
  if (!response.ok()) return response.status();
  if (response->results_size() != request.items_size()) {
    return WrongLength("UntrackItems", "results", response->results_size(), deletions.size());
  }
  return ToEnums<v1::UntrackResult>(response->results());
}

absl::StatusOr<VisibilityAnswer> TtlClient::CheckItem(absl::string_view container,
                                                      const v1::VisibilityCheck& check) {
  if (absl::Status status = CheckProcess(); !status.ok()) return status;
  if (!options_.share_checks) return CheckAlone(container, check, options_.check_deadline);
  return stubs_->shared_checks.Check(container, check, options_.check_deadline);
}

absl::StatusOr<VisibilityAnswer> TtlClient::CheckAlone(absl::string_view container,
                                                       const v1::VisibilityCheck& check,
                                                       absl::Duration deadline) {
  return OnlyOne(CheckOnce(container, absl::MakeConstSpan(&check, 1), deadline));
}

absl::StatusOr<std::vector<VisibilityAnswer>> TtlClient::CheckVisibility(
    absl::string_view container, absl::Span<const v1::VisibilityCheck> checks) {
  return SendInCalls<v1::VisibilityCheck, VisibilityAnswer>(
      checks, [&](absl::Span<const v1::VisibilityCheck> part) {
        return CheckOnce(container, part, options_.check_deadline);
      });
}

absl::StatusOr<std::vector<VisibilityAnswer>> TtlClient::CheckOnce(
    absl::string_view container, absl::Span<const v1::VisibilityCheck> checks,
    absl::Duration deadline) {
  v1::CheckVisibilityRequest request;
  request.set_container(std::string(container));
  request.mutable_checks()->Assign(checks.begin(), checks.end());
  const absl::StatusOr<v1::CheckVisibilityResponse> response = Call(
      *stubs_->items, &v1::ItemService::Stub::CheckVisibility, request, deadline, CallKind::kRead);
  if (!response.ok()) return response.status();
  return ToVisibilityAnswers("CheckVisibility", *response, checks.size());
}

absl::StatusOr<v1::GetItemResponse> TtlClient::GetItem(absl::string_view container,
                                                       absl::string_view partition_key,
                                                       absl::string_view id) {
  v1::GetItemRequest request;
  request.set_container(std::string(container));
  request.set_partition_key(std::string(partition_key));
  request.set_id(std::string(id));
  return Call(*stubs_->items, &v1::ItemService::Stub::GetItem, request, options_.check_deadline,
              CallKind::kRead);
}

absl::StatusOr<v1::ListItemsResponse> TtlClient::ListItems(const v1::ListItemsRequest& request) {
  return Read(*stubs_->items, &v1::ItemService::Stub::ListItems, request);
}

absl::StatusOr<v1::Container> TtlClient::CreateContainer(const v1::Container& container) {
  v1::CreateContainerRequest request;
  *request.mutable_container() = container;
  absl::StatusOr<v1::CreateContainerResponse> response =
      Change(*stubs_->containers, &v1::ContainerService::Stub::CreateContainer, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::StatusOr<v1::Container> TtlClient::GetContainer(absl::string_view id) {
  v1::GetContainerRequest request;
  request.set_id(std::string(id));
  absl::StatusOr<v1::GetContainerResponse> response =
      Read(*stubs_->containers, &v1::ContainerService::Stub::GetContainer, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::StatusOr<std::vector<v1::Container>> TtlClient::ListContainers() {
  std::vector<v1::Container> containers;
  const absl::Status status =
      ForEachPage([&](const std::string& token) -> absl::StatusOr<std::string> {
        v1::ListContainersRequest request;
        request.set_page_size(kMaxPageSize);
        request.set_page_token(token);
        absl::StatusOr<v1::ListContainersResponse> page =
            Read(*stubs_->containers, &v1::ContainerService::Stub::ListContainers, request);
        if (!page.ok()) return page.status();
        std::move(page->mutable_containers()->begin(), page->mutable_containers()->end(),
                  std::back_inserter(containers));
        return page->next_page_token();
      });
  if (!status.ok()) return status;
  return containers;
}

absl::StatusOr<v1::Container> TtlClient::UpdateContainer(
    const v1::Container& container, absl::Span<const std::string> update_mask) {
  absl::StatusOr<v1::UpdateContainerResponse> response =
      Update(container, update_mask, /*validate_only=*/false);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::StatusOr<v1::UpdateContainerResponse> TtlClient::PreviewUpdate(
    const v1::Container& container, absl::Span<const std::string> update_mask) {
  return Update(container, update_mask, /*validate_only=*/true);
}

absl::StatusOr<v1::UpdateContainerResponse> TtlClient::Update(
    const v1::Container& container, absl::Span<const std::string> update_mask, bool validate_only) {
  v1::UpdateContainerRequest request;
  *request.mutable_container() = container;
  for (const std::string& path : update_mask) request.mutable_update_mask()->add_paths(path);
  request.set_validate_only(validate_only);
  return Change(*stubs_->containers, &v1::ContainerService::Stub::UpdateContainer, request);
}

absl::Status TtlClient::DeleteContainer(absl::string_view id, absl::string_view etag) {
  v1::DeleteContainerRequest request;
  request.set_id(std::string(id));
  request.set_etag(std::string(etag));
  return Change(*stubs_->containers, &v1::ContainerService::Stub::DeleteContainer, request)
      .status();
}

absl::StatusOr<v1::GetExpiryStatusResponse> TtlClient::GetExpiryStatus(
    absl::string_view container) {
  v1::GetExpiryStatusRequest request;
  request.set_container(std::string(container));
  return Read(*stubs_->expiry, &v1::ExpiryService::Stub::GetExpiryStatus, request);
}

absl::StatusOr<v1::ListExpiryStatusesResponse> TtlClient::ListExpiryStatuses() {
  v1::ListExpiryStatusesResponse all;
  const absl::Status status =
      ForEachPage([&](const std::string& token) -> absl::StatusOr<std::string> {
        v1::ListExpiryStatusesRequest request;
        request.set_page_size(kMaxPageSize);
        request.set_page_token(token);
        const absl::StatusOr<v1::ListExpiryStatusesResponse> page =
            Read(*stubs_->expiry, &v1::ExpiryService::Stub::ListExpiryStatuses, request);
        if (!page.ok()) return page.status();
        all.mutable_containers()->MergeFrom(page->containers());
        *all.mutable_sidecar() = page->sidecar();
        return page->next_page_token();
      });
  if (!status.ok()) return status;
  return all;
}

absl::StatusOr<v1::ExplainItemResponse> TtlClient::ExplainItem(absl::string_view container,
                                                               absl::string_view partition_key,
                                                               absl::string_view id) {
  v1::ExplainItemRequest request;
  request.set_container(std::string(container));
  request.set_partition_key(std::string(partition_key));
  request.set_id(std::string(id));
  return Read(*stubs_->expiry, &v1::ExpiryService::Stub::ExplainItem, request);
}

absl::StatusOr<v1::PauseState> TtlClient::PauseDeletes(absl::string_view container,
                                                       absl::string_view reason) {
  v1::PauseDeletesRequest request;
  request.set_container(std::string(container));
  request.set_reason(std::string(reason));
  absl::StatusOr<v1::PauseDeletesResponse> response =
      Change(*stubs_->expiry, &v1::ExpiryService::Stub::PauseDeletes, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_pause());
}

absl::StatusOr<v1::PauseState> TtlClient::PauseAllDeletes(absl::string_view reason) {
  v1::PauseDeletesRequest request;
  request.set_all_containers(true);
  request.set_reason(std::string(reason));
  absl::StatusOr<v1::PauseDeletesResponse> response =
      Change(*stubs_->expiry, &v1::ExpiryService::Stub::PauseDeletes, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_pause());
}

absl::Status TtlClient::ResumeDeletes(absl::string_view container) {
  v1::ResumeDeletesRequest request;
  request.set_container(std::string(container));
  return Change(*stubs_->expiry, &v1::ExpiryService::Stub::ResumeDeletes, request).status();
}

absl::Status TtlClient::ResumeAllDeletes() {
  v1::ResumeDeletesRequest request;
  request.set_all_containers(true);
  return Change(*stubs_->expiry, &v1::ExpiryService::Stub::ResumeDeletes, request).status();
}

absl::StatusOr<v1::ClockStatus> TtlClient::AcceptClock() {
  absl::StatusOr<v1::AcceptClockResponse> response =
      Change(*stubs_->expiry, &v1::ExpiryService::Stub::AcceptClock, v1::AcceptClockRequest());
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_clock());
}

absl::StatusOr<v1::ListStuckItemsResponse> TtlClient::ListStuckItems(
    const v1::ListStuckItemsRequest& request) {
  return Read(*stubs_->expiry, &v1::ExpiryService::Stub::ListStuckItems, request);
}

absl::StatusOr<v1::Container> TtlClient::ConfirmPolicy(absl::string_view container,
                                                       absl::string_view etag) {
  v1::ConfirmPolicyRequest request;
  request.set_container(std::string(container));
  request.set_etag(std::string(etag));
  absl::StatusOr<v1::ConfirmPolicyResponse> response =
      Change(*stubs_->expiry, &v1::ExpiryService::Stub::ConfirmPolicy, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::Status TtlClient::ConfirmStore(absl::string_view store_id) {
  v1::ConfirmStoreRequest request;
  request.set_store_id(std::string(store_id));
  return Change(*stubs_->expiry, &v1::ExpiryService::Stub::ConfirmStore, request).status();
}

absl::StatusOr<v1::Reconciliation> TtlClient::StartReconciliation(absl::string_view container,
                                                                  bool dry_run) {
  v1::StartReconciliationRequest request;
  request.set_container(std::string(container));
  request.set_dry_run(dry_run);
  auto response =
      Change(*stubs_->maintenance, &v1::MaintenanceService::Stub::StartReconciliation, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_reconciliation());
}

absl::StatusOr<v1::Reconciliation> TtlClient::GetReconciliation() {
  auto response = Read(*stubs_->maintenance, &v1::MaintenanceService::Stub::GetReconciliation,
                       v1::GetReconciliationRequest());
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_reconciliation());
}

absl::StatusOr<v1::Reconciliation> TtlClient::CancelReconciliation() {
  auto response = Change(*stubs_->maintenance, &v1::MaintenanceService::Stub::CancelReconciliation,
                         v1::CancelReconciliationRequest());
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_reconciliation());
}

absl::Status TtlClient::TrustData() {
  return Change(*stubs_->maintenance, &v1::MaintenanceService::Stub::TrustData,
                v1::TrustDataRequest())
      .status();
}

absl::Status TtlClient::PreviewContainer(
    const v1::Container& container,
    absl::FunctionRef<void(const v1::PreviewContainerResponse&)> take) {
  grpc::ClientContext context;
  v1::PreviewContainerRequest request;
  *request.mutable_container() = container;
  const auto reader = stubs_->maintenance->PreviewContainer(&context, request);
  v1::PreviewContainerResponse message;
  while (reader->Read(&message)) take(message);
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return ToAbslStatus(status, options_.address, absl::InfiniteDuration());
  if (message.finished()) return absl::OkStatus();
  return absl::InternalError("the server ended the preview before it was finished");
}

absl::Status TtlClient::VerifyData(absl::FunctionRef<void(const v1::VerifyDataResponse&)> take) {
  grpc::ClientContext context;
  const auto reader = stubs_->maintenance->VerifyData(&context, v1::VerifyDataRequest());
  v1::VerifyDataResponse message;
  while (reader->Read(&message)) take(message);
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return ToAbslStatus(status, options_.address, absl::InfiniteDuration());
  if (message.finished()) return absl::OkStatus();
  return absl::InternalError("the server ended the verification before it was finished");
}

absl::Status TtlClient::BackUpData(absl::FunctionRef<bool(const v1::BackUpDataResponse&)> take) {
  grpc::ClientContext context;
  const auto reader = stubs_->maintenance->BackUpData(&context, v1::BackUpDataRequest());
  v1::BackUpDataResponse message;
  bool ended = false;
  while (!ended && reader->Read(&message)) ended = !take(message);
  if (ended) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (ended || status.ok()) return absl::OkStatus();
  return ToAbslStatus(status, options_.address, absl::InfiniteDuration());
}

absl::StatusOr<std::optional<double>> TtlClient::SetMaxDeletesPerSecond(
    double max_deletes_per_second) {
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_max_deletes_per_second(max_deletes_per_second);
  return SetLimit(request);
}

absl::StatusOr<std::optional<double>> TtlClient::SetUnlimitedDeletes() {
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_unlimited(true);
  return SetLimit(request);
}

absl::StatusOr<std::optional<double>> TtlClient::ResetMaxDeletesPerSecond() {
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_server_default(true);
  return SetLimit(request);
}

absl::StatusOr<std::optional<double>> TtlClient::SetLimit(
    const v1::SetMaxDeletesPerSecondRequest& request) {
  const absl::StatusOr<v1::SetMaxDeletesPerSecondResponse> response =
      Change(*stubs_->expiry, &v1::ExpiryService::Stub::SetMaxDeletesPerSecond, request);
  if (!response.ok()) return response.status();
  if (!response->has_max_deletes_per_second()) return std::optional<double>();
  return std::optional<double>(response->max_deletes_per_second());
}

void TtlClient::AddUsage(absl::string_view container, double request_units) {
  if (options_.report_usage) usage_.Add(container, request_units);
}

absl::Status TtlClient::ReportUsage(const v1::ReportUsageRequest& request) {
  return Call(*stubs_->expiry, &v1::ExpiryService::Stub::ReportUsage, request,
              options_.check_deadline, CallKind::kNow)
      .status();
}

absl::StatusOr<bool> TtlClient::IsServing(absl::string_view health_service) {
  using grpc::health::v1::Health;
  using grpc::health::v1::HealthCheckResponse;
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(health_service));
  const auto response =
      Call(*stubs_->health, &Health::Stub::Check, request, options_.admin_deadline, CallKind::kNow);
  if (!response.ok()) return response.status();
  return response->status() == HealthCheckResponse::SERVING;
}

}  // namespace ttl
