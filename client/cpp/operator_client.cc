#include "ttl/operator_client.h"

#include <iterator>
#include <string>
#include <utility>

#include "client/cpp/client_calls.h"
#include "client/cpp/health_stub.h"
#include "client/cpp/page_loop.h"

namespace ttl {
namespace {

using ExpiryStub = v1::ExpiryService::Stub;
using HoldStub = v1::HoldService::Stub;
using MaintenanceStub = v1::MaintenanceService::Stub;

// The reconciliation in the response to one of its methods.
template <typename Response>
absl::StatusOr<v1::Reconciliation> ReconciliationOf(absl::StatusOr<Response> response) {
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_reconciliation());
}

}  // namespace

absl::StatusOr<v1::GetExpiryStatusResponse> OperatorClient::GetExpiryStatus(
    absl::string_view container) {
  v1::GetExpiryStatusRequest request;
  request.set_container(std::string(container));
  return calls_.Read(calls_.expiry(), &ExpiryStub::GetExpiryStatus, request);
}

absl::StatusOr<v1::ListExpiryStatusesResponse> OperatorClient::ListExpiryStatuses() {
  v1::ListExpiryStatusesResponse all;
  const absl::Status status =
      ForEachPage([&](const std::string& token) -> absl::StatusOr<std::string> {
        v1::ListExpiryStatusesRequest request;
        request.set_page_size(kLargestPage);
        request.set_page_token(token);
        const auto page = calls_.Read(calls_.expiry(), &ExpiryStub::ListExpiryStatuses, request);
        if (!page.ok()) return page.status();
        all.mutable_containers()->MergeFrom(page->containers());
        *all.mutable_sidecar() = page->sidecar();
        return page->next_page_token();
      });
  if (!status.ok()) return status;
  return all;
}

absl::StatusOr<v1::ExplainItemResponse> OperatorClient::ExplainItem(absl::string_view container,
                                                                    absl::string_view partition_key,
                                                                    absl::string_view id) {
  v1::ExplainItemRequest request;
  request.set_container(std::string(container));
  request.set_partition_key(std::string(partition_key));
  request.set_id(std::string(id));
  return calls_.Read(calls_.expiry(), &ExpiryStub::ExplainItem, request);
}

absl::StatusOr<v1::GetForecastResponse> OperatorClient::GetForecast(
    const v1::GetForecastRequest& request) {
  return calls_.Read(calls_.expiry(), &ExpiryStub::GetForecast, request);
}

absl::StatusOr<v1::ListStuckItemsResponse> OperatorClient::ListStuckItems(
    const v1::ListStuckItemsRequest& request) {
  return calls_.Read(calls_.expiry(), &ExpiryStub::ListStuckItems, request);
}

absl::StatusOr<bool> OperatorClient::IsServing(absl::string_view health_service) {
  HealthStub health(calls_.channel());
  const auto status = calls_.Call(health, &HealthStub::Check, HealthStub::AskFor(health_service),
                                  calls_.options().admin_deadline, CallKind::kNow);
  if (!status.ok()) return status.status();
  return status->value() == HealthStub::kServing;
}

absl::StatusOr<v1::PauseState> OperatorClient::Pause(const v1::PauseDeletesRequest& request) {
  auto response = calls_.Change(calls_.expiry(), &ExpiryStub::PauseDeletes, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_pause());
}

absl::StatusOr<v1::PauseState> OperatorClient::PauseDeletes(absl::string_view container,
                                                            absl::string_view reason) {
  v1::PauseDeletesRequest request;
  request.set_container(std::string(container));
  request.set_reason(std::string(reason));
  return Pause(request);
}

absl::StatusOr<v1::PauseState> OperatorClient::PauseAllDeletes(absl::string_view reason) {
  v1::PauseDeletesRequest request;
  request.set_all_containers(true);
  request.set_reason(std::string(reason));
  return Pause(request);
}

absl::Status OperatorClient::ResumeDeletes(absl::string_view container) {
  v1::ResumeDeletesRequest request;
  request.set_container(std::string(container));
  return calls_.Change(calls_.expiry(), &ExpiryStub::ResumeDeletes, request).status();
}

absl::Status OperatorClient::ResumeAllDeletes() {
  v1::ResumeDeletesRequest request;
  request.set_all_containers(true);
  return calls_.Change(calls_.expiry(), &ExpiryStub::ResumeDeletes, request).status();
}

absl::StatusOr<v1::ClockStatus> OperatorClient::AcceptClock() {
  auto response =
      calls_.Change(calls_.expiry(), &ExpiryStub::AcceptClock, v1::AcceptClockRequest());
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_clock());
}

absl::StatusOr<v1::Container> OperatorClient::ConfirmPolicy(absl::string_view container,
                                                            absl::string_view etag) {
  v1::ConfirmPolicyRequest request;
  request.set_container(std::string(container));
  request.set_etag(std::string(etag));
  auto response = calls_.Change(calls_.expiry(), &ExpiryStub::ConfirmPolicy, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_container());
}

absl::Status OperatorClient::ConfirmStore(absl::string_view store_id) {
  v1::ConfirmStoreRequest request;
  request.set_store_id(std::string(store_id));
  return calls_.Change(calls_.expiry(), &ExpiryStub::ConfirmStore, request).status();
}

absl::StatusOr<std::optional<double>> OperatorClient::SetMaxDeletesPerSecond(
    double max_deletes_per_second) {
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_max_deletes_per_second(max_deletes_per_second);
  return SetLimit(request);
}

absl::StatusOr<std::optional<double>> OperatorClient::SetUnlimitedDeletes() {
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_unlimited(true);
  return SetLimit(request);
}

absl::StatusOr<std::optional<double>> OperatorClient::ResetMaxDeletesPerSecond() {
  v1::SetMaxDeletesPerSecondRequest request;
  request.set_server_default(true);
  return SetLimit(request);
}

absl::StatusOr<std::optional<double>> OperatorClient::SetLimit(
    const v1::SetMaxDeletesPerSecondRequest& request) {
  const auto response =
      calls_.Change(calls_.expiry(), &ExpiryStub::SetMaxDeletesPerSecond, request);
  if (!response.ok()) return response.status();
  if (!response->has_max_deletes_per_second()) return std::optional<double>();
  return std::optional<double>(response->max_deletes_per_second());
}

absl::StatusOr<v1::PlaceHoldResponse> OperatorClient::PlaceHold(
    const v1::PlaceHoldRequest& request) {
  return calls_.Call(calls_.holds(), &HoldStub::PlaceHold, request, calls_.options().admin_deadline,
                     CallKind::kHold);
}

absl::Status OperatorClient::ReleaseHold(absl::string_view container, absl::string_view hold_id) {
  v1::ReleaseHoldRequest request;
  request.set_container(std::string(container));
  request.set_hold_id(std::string(hold_id));
  return calls_.Change(calls_.holds(), &HoldStub::ReleaseHold, request).status();
}

absl::StatusOr<std::vector<v1::Hold>> OperatorClient::ListHolds(absl::string_view container) {
  std::vector<v1::Hold> holds;
  v1::ListHoldsRequest request;
  request.set_container(std::string(container));
  request.set_page_size(kLargestPage);
  const absl::Status status =
      ForEachPage([&](const std::string& token) -> absl::StatusOr<std::string> {
        request.set_page_token(token);
        auto page = calls_.Read(calls_.holds(), &HoldStub::ListHolds, request);
        if (!page.ok()) return page.status();
        std::move(page->mutable_holds()->begin(), page->mutable_holds()->end(),
                  std::back_inserter(holds));
        return page->next_page_token();
      });
  if (!status.ok()) return status;
  return holds;
}

absl::StatusOr<v1::ListHeldKeysResponse> OperatorClient::ListHeldKeys(
    const v1::ListHeldKeysRequest& request) {
  return calls_.Read(calls_.holds(), &HoldStub::ListHeldKeys, request);
}

absl::Status OperatorClient::AcceptHolds(absl::string_view container) {
  v1::AcceptHoldsRequest request;
  request.set_container(std::string(container));
  return calls_.Change(calls_.holds(), &HoldStub::AcceptHolds, request).status();
}

absl::StatusOr<v1::Reconciliation> OperatorClient::StartReconciliation(absl::string_view container,
                                                                       bool dry_run) {
  v1::StartReconciliationRequest request;
  request.set_container(std::string(container));
  request.set_dry_run(dry_run);
  return ReconciliationOf(
      calls_.Change(calls_.maintenance(), &MaintenanceStub::StartReconciliation, request));
}

absl::StatusOr<v1::Reconciliation> OperatorClient::GetReconciliation() {
  return ReconciliationOf(calls_.Read(calls_.maintenance(), &MaintenanceStub::GetReconciliation,
                                      v1::GetReconciliationRequest()));
}

absl::StatusOr<v1::Reconciliation> OperatorClient::CancelReconciliation() {
  return ReconciliationOf(calls_.Change(calls_.maintenance(),
                                        &MaintenanceStub::CancelReconciliation,
                                        v1::CancelReconciliationRequest()));
}

absl::Status OperatorClient::TrustData() {
  return calls_.Change(calls_.maintenance(), &MaintenanceStub::TrustData, v1::TrustDataRequest())
      .status();
}

absl::Status OperatorClient::VerifyData(
    absl::FunctionRef<void(const v1::VerifyDataResponse&)> take) {
  bool finished = false;
  absl::Status status = calls_.ReadStream<v1::VerifyDataResponse>(
      [&](grpc::ClientContext* context) {
        return calls_.maintenance().VerifyData(context, v1::VerifyDataRequest());
      },
      [&](const v1::VerifyDataResponse& message) {
        finished = message.finished();
        take(message);
        return true;
      });
  if (!status.ok() || finished) return status;
  return absl::InternalError("the server ended the verification before it was finished");
}

absl::Status OperatorClient::BackUpData(
    absl::FunctionRef<bool(const v1::BackUpDataResponse&)> take) {
  return calls_.ReadStream<v1::BackUpDataResponse>(
      [&](grpc::ClientContext* context) {
        return calls_.maintenance().BackUpData(context, v1::BackUpDataRequest());
      },
      take);
}

}  // namespace ttl
