#include "service/rpc/services/feed_service.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/rpc/mapping/feed_mapping.h"
#include "service/rpc/mapping/page_token.h"
#include "service/rpc/services/container_lookup.h"
#include "service/transport/calls/method_table.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

std::string QuotedSubscription(absl::string_view name) {
  return Quoted(name, kMaxSubscriptionNameBytes);
}

void LogSubscription(const char* what, const SubscriptionView& view, const std::string& author) {
  spdlog::info("subscription {}: container={} subscription={} settings={} caller={}", what,
               Quoted(view.container_id, kMaxContainerIdBytes),
               QuotedSubscription(view.subscription.name), Describe(view.subscription),
               Quoted(author, kMaxConsumerBytes));
}

absl::Status NotTheConsumer(const std::string& caller, const Subscription& subscription) {
  return MakeError(
      Reason::kNotTheConsumer,
      absl::StrCat(Quoted(caller, kMaxConsumerBytes), " may not acknowledge for subscription ",
                   QuotedSubscription(subscription.name), ": its consumer is ",
                   Quoted(subscription.consumer, kMaxConsumerBytes),
                   ": acknowledge as that caller, or create the subscription again"),
      {{"caller", caller}, {"consumer", subscription.consumer}});
}

absl::Status NotSentYet(uint64_t sequence, const Subscription& subscription, uint64_t sent) {
  return MakeError(
      Reason::kSequenceNotSent,
      absl::StrCat("sequence is ", sequence, ", and the last event that was sent to subscription ",
                   QuotedSubscription(subscription.name), " since the start is ", sent,
                   ": watch the subscription, and acknowledge what it brings"),
      {{"sent", absl::StrCat(sent)}});
}

// A token of a list of one container must be of that container.
absl::Status CheckIsOf(const SubscriptionPosition& position,
                       const v1::ListSubscriptionsRequest& request) {
  if (position.container.empty() || request.container().empty() ||
      position.container == request.container()) {
    return absl::OkStatus();
  }
  return InvalidField("page_token",
                      absl::StrCat("page_token is of a list of container ",
                                   Quoted(position.container, kMaxContainerIdBytes),
                                   ": must be empty or the next_page_token of the previous page"));
}

}  // namespace

FeedService::FeedService(const Parts& parts)
    : parts_(parts),
      view_({.feed = parts.feed, .progress = parts.progress, .sent = parts.sent}),
      streams_(parts.feed,
               {.containers = parts.containers,
                .feed = parts.feed,
                .progress = parts.progress,
                .clock = parts.clock,
                .sent = parts.sent},
               parts.stall_limit) {}

const google::protobuf::ServiceDescriptor& FeedService::descriptor() const {
  return *v1::WatchEventsRequest::descriptor()->file()->service(0);
}

void FeedService::AddMethods(MethodTable& table) {
  streams_.AddMethod(table);
  table.Add("CreateSubscription", *this, &FeedService::Create);
  table.Add("GetSubscription", *this, &FeedService::Get);
  table.Add("ListSubscriptions", *this, &FeedService::List);
  table.Add("DeleteSubscription", *this, &FeedService::Delete);
  table.Add("Acknowledge", *this, &FeedService::Acknowledge);
}

void FeedService::Create(const std::string& author, const v1::CreateSubscriptionRequest& request,
                         v1::CreateSubscriptionResponse& response, DoneStatus done) {
  absl::StatusOr<Subscription> subscription = ReadSubscription(request);
  if (!subscription.ok()) return done(subscription.status());
  const absl::StatusOr<ContainerPtr> container =
      FindContainerWithFeed(parts_.containers, request.subscription().container());
  if (!container.ok()) return done(container.status());
  parts_.feed.Subscribe((*container)->id, *std::move(subscription), parts_.clock.Read().now,
                        [this, &response, author, container = *container, done = std::move(done)](
                            const absl::StatusOr<SubscriptionView>& created) mutable {
                          if (created.ok()) {
                            LogSubscription("created", *created, author);
                            // It begins behind the last event or before the first one, so that
                            // nothing is read from disk here.
                            *response.mutable_subscription() = view_.ToProto(*container, *created);
                          }
                          done(created.status());
                        });
}

absl::StatusOr<FeedService::Found> FeedService::Find(absl::string_view container_id,
                                                     absl::string_view name) const {
  TTL_RETURN_IF_ERROR(ValidateSubscriptionName("name", name));
  TTL_ASSIGN_OR_RETURN(ContainerPtr container,
                       FindContainerWithFeed(parts_.containers, container_id));
  TTL_ASSIGN_OR_RETURN(SubscriptionView view, FindSubscription(parts_.feed, container_id, name));
  return Found{std::move(container), std::move(view)};
}

absl::Status FeedService::Get(const v1::GetSubscriptionRequest& request,
                              v1::GetSubscriptionResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const Found found, Find(request.container(), request.name()));
  *response.mutable_subscription() = view_.ToProto(*found.container, found.view);
  return absl::OkStatus();
}

absl::Status FeedService::List(const v1::ListSubscriptionsRequest& request,
                               v1::ListSubscriptionsResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(SubscriptionPosition last, ReadSubscriptionPageToken(request.page_token()));
  TTL_RETURN_IF_ERROR(CheckIsOf(last, request));
  if (!request.container().empty()) {
    TTL_RETURN_IF_ERROR(FindContainerWithFeed(parts_.containers, request.container()).status());
  }
  // One more than the page holds, to tell whether it is the last page.
  std::vector<SubscriptionView> found =
      parts_.feed.List(request.container(), last.container, last.name, page_size + 1);
  if (found.size() > page_size) {
    found.pop_back();
    response.set_next_page_token(
        SubscriptionPageToken({found.back().container_id, found.back().subscription.name}));
  }
  for (const SubscriptionView& view : found) {
    const ContainerPtr container = parts_.containers.Find(view.container_id);
    if (container == nullptr) continue;  // deleted meanwhile, and its subscriptions with it
    *response.add_subscriptions() = view_.ToProto(*container, view);
  }
  return absl::OkStatus();
}

void FeedService::Delete(const std::string& author, const v1::DeleteSubscriptionRequest& request,
                         v1::DeleteSubscriptionResponse& /*response*/, DoneStatus done) {
  absl::StatusOr<Found> found = Find(request.container(), request.name());
  if (!found.ok()) return done(found.status());
  parts_.feed.Unsubscribe(request.container(), request.name(),
                          [this, author, found = *std::move(found),
                           done = std::move(done)](const absl::Status& status) mutable {
                            if (status.ok()) {
                              LogSubscription("deleted", found.view, author);
                              // The streams of it end when they find that it is gone.
                              parts_.sent.Forget(found.container->feed.number,
                                                 found.view.subscription.name);
                            }
                            done(status);
                          });
}

void FeedService::Acknowledge(const std::string& author, const v1::AcknowledgeRequest& request,
                              v1::AcknowledgeResponse& response, DoneStatus done) {
  const absl::StatusOr<Found> found = Find(request.container(), request.name());
  if (!found.ok()) return done(found.status());
  const absl::Status may = MayAcknowledge(author, request, *found);
  if (!may.ok()) return done(may);
  parts_.feed.Acknowledge(
      request.container(), request.name(), request.epoch(), request.sequence(),
      [&response, done = std::move(done)](const absl::StatusOr<uint64_t>& acknowledged) mutable {
        if (acknowledged.ok()) response.set_acknowledged_sequence(*acknowledged);
        done(acknowledged.status());
      });
}

absl::Status FeedService::MayAcknowledge(const std::string& caller,
                                         const v1::AcknowledgeRequest& request,
                                         const Found& found) const {
  const Subscription& subscription = found.view.subscription;
  if (!subscription.consumer.empty() && subscription.consumer != caller) {
    return NotTheConsumer(caller, subscription);
  }
  if (request.epoch() != parts_.feed.EpochOf(*found.container)) {
    return LogReplaced({request.container()});
  }
  if (request.sequence() <= subscription.acknowledged_sequence) return absl::OkStatus();
  uint64_t most = parts_.sent.SentThrough(found.container->feed.number, subscription.name);
  // A gate gets a RESYNC for what it has lost, and must not pass events that it has not seen.
  if (found.view.has_lost_events && !subscription.gate) {
    most = std::max(most, found.view.last_sequence);
  }
  if (request.sequence() <= most) return absl::OkStatus();
  return NotSentYet(request.sequence(), subscription, most);
}

}  // namespace ttl
