#include "ttl/client.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/checks/shared_checks.h"
#include "client/cpp/checks/visibility_answers.h"
#include "client/cpp/checks/wrong_length.h"
#include "client/cpp/client_calls.h"
#include "client/cpp/usage_reporter.h"
#include "google/protobuf/util/time_util.h"
#include "ttl/container_client.h"
#include "ttl/feed_client.h"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

using ItemStub = v1::ItemService::Stub;

constexpr std::chrono::seconds kUsageInterval(1);

SharedChecks::Options SharedChecksOptions(const std::string& address) {
  SharedChecks::Options options;
  options.address = address;
  return options;
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

std::vector<TouchAnswer> TouchAnswersOf(const v1::TouchItemsResponse& response) {
  std::vector<TouchAnswer> answers;
  answers.reserve(response.results_size());
  for (int i = 0; i < response.results_size(); ++i) {
    TouchAnswer& answer = answers.emplace_back();
    answer.result = response.results(i);
    if (response.expire_times(i) != 0) answer.expire_time = response.expire_times(i);
    answer.touch_time = response.touch_time();
  }
  return answers;
}

}  // namespace

// The connection, and what shares it.
class TtlClient::State {
 public:
  explicit State(TtlClientOptions options)
      : calls_(std::move(options)),
        containers_(calls_),
        feed_(calls_),
        operations_(calls_),
        shared_checks_(
            calls_.items(), SharedChecksOptions(calls_.options().address),
            [this](absl::string_view container, const v1::VisibilityCheck& check,
                   absl::Duration deadline) { return CheckAlone(container, check, deadline); }),
        usage_(kUsageInterval,
               [this](const v1::ReportUsageRequest& request) { return ReportUsage(request); }) {}

  ClientCalls& calls() { return calls_; }
  const TtlClientOptions& options() const { return calls_.options(); }
  ContainerClient& containers() { return containers_; }
  FeedClient& feed() { return feed_; }
  OperatorClient& operations() { return operations_; }
  SharedChecks& shared_checks() { return shared_checks_; }
  UsageReporter& usage() { return usage_; }

  // One call with at most kMaxEntriesPerCall entries.
  absl::StatusOr<std::vector<v1::TrackResult>> Track(absl::string_view container,
                                                     absl::Span<const v1::Item> items,
                                                     bool adopted);
  absl::StatusOr<std::vector<v1::UntrackResult>> Untrack(
      absl::string_view container, absl::Span<const v1::ItemDeletion> deletions);
  absl::StatusOr<std::vector<TouchAnswer>> Touch(absl::string_view container,
                                                 absl::Span<const v1::ItemKey> keys,
                                                 absl::Duration unless_touched_within);
  absl::StatusOr<std::vector<VisibilityAnswer>> Check(absl::string_view container,
                                                      absl::Span<const v1::VisibilityCheck> checks,
                                                      absl::Duration deadline,
                                                      std::optional<absl::Time> as_of);
  absl::StatusOr<VisibilityAnswer> CheckAlone(absl::string_view container,
                                              const v1::VisibilityCheck& check,
                                              absl::Duration deadline);

 private:
  absl::Status ReportUsage(const v1::ReportUsageRequest& request);

  ClientCalls calls_;
  ContainerClient containers_;
  FeedClient feed_;
  OperatorClient operations_;
  SharedChecks shared_checks_;
  UsageReporter usage_;  // last, because its thread uses all of the above
};

absl::StatusOr<std::vector<v1::TrackResult>> TtlClient::State::Track(
    absl::string_view container, absl::Span<const v1::Item> items, bool adopted) {
  v1::TrackItemsRequest request;
  request.set_container(std::string(container));
  request.set_adopted(adopted);
  request.mutable_items()->Assign(items.begin(), items.end());
  const absl::StatusOr<v1::TrackItemsResponse> response =
      calls_.Call(calls_.items(), &ItemStub::TrackItems, request, options().report_deadline,
                  KindOfReport(items));
  if (!response.ok()) return response.status();
  if (response->results_size() != request.items_size()) {
    return WrongLength("TrackItems", "results", response->results_size(), items.size());
  }
  return ToEnums<v1::TrackResult>(response->results());
}

absl::StatusOr<std::vector<v1::UntrackResult>> TtlClient::State::Untrack(
    absl::string_view container, absl::Span<const v1::ItemDeletion> deletions) {
  v1::UntrackItemsRequest request;
  request.set_container(std::string(container));
  request.mutable_items()->Assign(deletions.begin(), deletions.end());
  const absl::StatusOr<v1::UntrackItemsResponse> response =
      calls_.Call(calls_.items(), &ItemStub::UntrackItems, request, options().report_deadline,
                  KindOfReport(deletions));
  if (!response.ok()) return response.status();
  if (response->results_size() != request.items_size()) {
    return WrongLength("UntrackItems", "results", response->results_size(), deletions.size());
  }
  return ToEnums<v1::UntrackResult>(response->results());
}

absl::StatusOr<std::vector<TouchAnswer>> TtlClient::State::Touch(
    absl::string_view container, absl::Span<const v1::ItemKey> keys,
    absl::Duration unless_touched_within) {
  v1::TouchItemsRequest request;
  request.set_container(std::string(container));
  request.mutable_keys()->Assign(keys.begin(), keys.end());
  *request.mutable_unless_touched_within() =
      google::protobuf::util::TimeUtil::NanosecondsToDuration(
          absl::ToInt64Nanoseconds(unless_touched_within));
  const absl::StatusOr<v1::TouchItemsResponse> response = calls_.Call(
      calls_.items(), &ItemStub::TouchItems, request, options().report_deadline, CallKind::kTouch);
  if (!response.ok()) return response.status();
  if (response->results_size() != request.keys_size()) {
    return WrongLength("TouchItems", "results", response->results_size(), keys.size());
  }
  if (response->expire_times_size() != request.keys_size()) {
    return WrongLength("TouchItems", "expire_times", response->expire_times_size(), keys.size());
  }
  return TouchAnswersOf(*response);
}

absl::StatusOr<std::vector<VisibilityAnswer>> TtlClient::State::Check(
    absl::string_view container, absl::Span<const v1::VisibilityCheck> checks,
    absl::Duration deadline, std::optional<absl::Time> as_of) {
  v1::CheckVisibilityRequest request;
  request.set_container(std::string(container));
  request.mutable_checks()->Assign(checks.begin(), checks.end());
  if (as_of.has_value()) *request.mutable_as_of() = ToTimestamp(*as_of);
  const absl::StatusOr<v1::CheckVisibilityResponse> response =
      calls_.Call(calls_.items(), &ItemStub::CheckVisibility, request, deadline, CallKind::kRead);
  if (!response.ok()) return response.status();
  return ToVisibilityAnswers("CheckVisibility", *response, checks.size());
}

absl::StatusOr<VisibilityAnswer> TtlClient::State::CheckAlone(absl::string_view container,
                                                              const v1::VisibilityCheck& check,
                                                              absl::Duration deadline) {
  return OnlyOne(Check(container, absl::MakeConstSpan(&check, 1), deadline, std::nullopt));
}

absl::Status TtlClient::State::ReportUsage(const v1::ReportUsageRequest& request) {
  return calls_
      .Call(calls_.expiry(), &v1::ExpiryService::Stub::ReportUsage, request,
            options().check_deadline, CallKind::kNow)
      .status();
}

TtlClient::TtlClient(TtlClientOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

TtlClient::~TtlClient() = default;

const std::string& TtlClient::address() const { return state_->options().address; }

ContainerClient& TtlClient::containers() { return state_->containers(); }

FeedClient& TtlClient::feed() { return state_->feed(); }

OperatorClient& TtlClient::operations() { return state_->operations(); }

absl::StatusOr<v1::TrackResult> TtlClient::TrackItem(absl::string_view container,
                                                     const v1::Item& item) {
  return OnlyOne(TrackItems(container, absl::MakeConstSpan(&item, 1)));
}

absl::StatusOr<std::vector<v1::TrackResult>> TtlClient::TrackItems(
    absl::string_view container, absl::Span<const v1::Item> items) {
  return SendInCalls<v1::Item, v1::TrackResult>(items, [&](absl::Span<const v1::Item> part) {
    return state_->Track(container, part, /*adopted=*/false);
  });
}

absl::StatusOr<std::vector<v1::TrackResult>> TtlClient::AdoptItems(
    absl::string_view container, absl::Span<const v1::Item> items) {
  return SendInCalls<v1::Item, v1::TrackResult>(items, [&](absl::Span<const v1::Item> part) {
    return state_->Track(container, part, /*adopted=*/true);
  });
}

absl::StatusOr<v1::UntrackResult> TtlClient::UntrackItem(absl::string_view container,
                                                         const v1::ItemDeletion& deletion) {
  return OnlyOne(UntrackItems(container, absl::MakeConstSpan(&deletion, 1)));
}

absl::StatusOr<std::vector<v1::UntrackResult>> TtlClient::UntrackItems(
    absl::string_view container, absl::Span<const v1::ItemDeletion> deletions) {
  return SendInCalls<v1::ItemDeletion, v1::UntrackResult>(
      deletions,
      [&](absl::Span<const v1::ItemDeletion> part) { return state_->Untrack(container, part); });
}

absl::StatusOr<TouchAnswer> TtlClient::TouchItem(absl::string_view container,
                                                 const v1::ItemKey& key,
                                                 absl::Duration unless_touched_within) {
  return OnlyOne(TouchItems(container, absl::MakeConstSpan(&key, 1), unless_touched_within));
}

absl::StatusOr<std::vector<TouchAnswer>> TtlClient::TouchItems(
    absl::string_view container, absl::Span<const v1::ItemKey> keys,
    absl::Duration unless_touched_within) {
  return SendInCalls<v1::ItemKey, TouchAnswer>(keys, [&](absl::Span<const v1::ItemKey> part) {
    return state_->Touch(container, part, unless_touched_within);
  });
}

absl::StatusOr<VisibilityAnswer> TtlClient::CheckItem(absl::string_view container,
                                                      const v1::VisibilityCheck& check) {
  if (absl::Status status = state_->calls().CheckProcess(); !status.ok()) return status;
  const TtlClientOptions& options = state_->options();
  if (!options.share_checks) return state_->CheckAlone(container, check, options.check_deadline);
  return state_->shared_checks().Check(container, check, options.check_deadline);
}

absl::StatusOr<std::vector<VisibilityAnswer>> TtlClient::CheckVisibility(
    absl::string_view container, absl::Span<const v1::VisibilityCheck> checks) {
  return SendInCalls<v1::VisibilityCheck, VisibilityAnswer>(
      checks, [&](absl::Span<const v1::VisibilityCheck> part) {
        return state_->Check(container, part, state_->options().check_deadline, std::nullopt);
      });
}

absl::StatusOr<std::vector<VisibilityAnswer>> TtlClient::CheckVisibility(
    absl::string_view container, absl::Span<const v1::VisibilityCheck> checks, absl::Time as_of) {
  return SendInCalls<v1::VisibilityCheck, VisibilityAnswer>(
      checks, [&](absl::Span<const v1::VisibilityCheck> part) {
        return state_->Check(container, part, state_->options().check_deadline, as_of);
      });
}

absl::StatusOr<v1::GetItemResponse> TtlClient::GetItem(absl::string_view container,
                                                       absl::string_view partition_key,
                                                       absl::string_view id) {
  v1::GetItemRequest request;
  request.set_container(std::string(container));
  request.set_partition_key(std::string(partition_key));
  request.set_id(std::string(id));
  return state_->calls().Call(state_->calls().items(), &ItemStub::GetItem, request,
                              state_->options().check_deadline, CallKind::kRead);
}

absl::StatusOr<v1::ListItemsResponse> TtlClient::ListItems(const v1::ListItemsRequest& request) {
  return state_->calls().Read(state_->calls().items(), &ItemStub::ListItems, request);
}

void TtlClient::AddUsage(absl::string_view container, double request_units) {
  if (state_->options().report_usage) state_->usage().Add(container, request_units);
}

}  // namespace ttl
