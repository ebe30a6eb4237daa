#include "ttl/feed_client.h"

#include <iterator>
#include <string>
#include <utility>

#include "client/cpp/client_calls.h"
#include "client/cpp/page_loop.h"

namespace ttl {
namespace {

using FeedStub = v1::FeedService::Stub;

// The subscription in the response to one of its methods.
template <typename Response>
absl::StatusOr<v1::Subscription> SubscriptionOf(absl::StatusOr<Response> response) {
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_subscription());
}

}  // namespace

std::unique_ptr<EventWatcher> FeedClient::Watch(const v1::WatchEventsRequest& request,
                                                EventHandlers handlers) {
  return std::unique_ptr<EventWatcher>(new EventWatcher(calls_, request, std::move(handlers)));
}

absl::StatusOr<uint64_t> FeedClient::Acknowledge(absl::string_view container,
                                                 absl::string_view name, uint64_t epoch,
                                                 uint64_t sequence) {
  v1::AcknowledgeRequest request;
  request.set_container(std::string(container));
  request.set_name(std::string(name));
  request.set_epoch(epoch);
  request.set_sequence(sequence);
  const auto response = calls_.Read(calls_.feed(), &FeedStub::Acknowledge, request);
  if (!response.ok()) return response.status();
  return response->acknowledged_sequence();
}

absl::StatusOr<v1::Subscription> FeedClient::CreateSubscription(
    const v1::Subscription& subscription) {
  v1::CreateSubscriptionRequest request;
  *request.mutable_subscription() = subscription;
  return SubscriptionOf(calls_.Change(calls_.feed(), &FeedStub::CreateSubscription, request));
}

absl::StatusOr<v1::Subscription> FeedClient::GetSubscription(absl::string_view container,
                                                             absl::string_view name) {
  v1::GetSubscriptionRequest request;
  request.set_container(std::string(container));
  request.set_name(std::string(name));
  return SubscriptionOf(calls_.Read(calls_.feed(), &FeedStub::GetSubscription, request));
}

absl::StatusOr<std::vector<v1::Subscription>> FeedClient::ListSubscriptions(
    absl::string_view container) {
  std::vector<v1::Subscription> subscriptions;
  v1::ListSubscriptionsRequest request;
  request.set_container(std::string(container));
  request.set_page_size(kLargestPage);
  const absl::Status status =
      ForEachPage([&](const std::string& token) -> absl::StatusOr<std::string> {
        request.set_page_token(token);
        auto page = calls_.Read(calls_.feed(), &FeedStub::ListSubscriptions, request);
        if (!page.ok()) return page.status();
        std::move(page->mutable_subscriptions()->begin(), page->mutable_subscriptions()->end(),
                  std::back_inserter(subscriptions));
        return page->next_page_token();
      });
  if (!status.ok()) return status;
  return subscriptions;
}

absl::Status FeedClient::DeleteSubscription(absl::string_view container, absl::string_view name) {
  v1::DeleteSubscriptionRequest request;
  request.set_container(std::string(container));
  request.set_name(std::string(name));
  return calls_.Change(calls_.feed(), &FeedStub::DeleteSubscription, request).status();
}

}  // namespace ttl
