#include "service/rpc/status/feed_view.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "service/base/proto_time.h"

namespace ttl {

v1::FeedStatus FeedView::StatusOf(const Container& container) const {
  const FeedFigures figures = parts_.feed.Figures(container);
  v1::FeedStatus status;
  status.set_events(figures.events);
  status.set_bytes(figures.bytes);
  status.set_is_lower_bound(figures.is_lower_bound);
  if (figures.oldest_time.has_value()) {
    *status.mutable_oldest_event_time() = ttl::ToProto(*figures.oldest_time);
  }
  status.set_last_sequence(figures.last_sequence);
  status.set_expired_items(figures.announced_items);
  const FeedProgress::View progress = parts_.progress.Of(container);
  if (progress.watermark.has_value()) {
    *status.mutable_watermark() = ttl::ToProto(*progress.watermark);
  }
  status.set_stall_reason(progress.stall);
  status.set_gated_items(figures.gated_items);
  status.set_is_full(figures.is_full);
  for (std::string& name : parts_.feed.GatesThatWait(container)) {
    status.add_waiting_for(std::move(name));
  }
  for (const SubscriptionView& view : parts_.feed.List(container.id, "", "", kMaxSubscriptions)) {
    *status.add_subscriptions() = StatusOf(container, view);
  }
  return status;
}

v1::SubscriptionStatus FeedView::StatusOf(const Container& container,
                                          const SubscriptionView& view) const {
  const std::string& name = view.subscription.name;
  const EventsBehind behind = Behind(container, view);
  v1::SubscriptionStatus status;
  status.set_name(name);
  status.set_unacknowledged_events(behind.count);
  status.set_is_lower_bound(behind.is_lower_bound);
  if (behind.oldest_time.has_value()) {
    *status.mutable_oldest_unacknowledged_time() = ttl::ToProto(*behind.oldest_time);
  }
  status.set_streams(parts_.sent.Streams(container.feed.number, name));
  status.set_has_lost_events(view.has_lost_events);
  status.set_gate(view.subscription.gate);
  status.set_given_up_sequence(view.given_up_sequence);
  return status;
}

v1::Subscription FeedView::ToProto(const Container& container, const SubscriptionView& view) const {
  const Subscription& subscription = view.subscription;
  v1::Subscription proto;
  proto.set_container(container.id);
  proto.set_name(subscription.name);
  for (const EventKind kind : subscription.kinds) {
    proto.add_kinds(static_cast<v1::EventKind>(kind));
  }
  proto.set_consumer(subscription.consumer);
  *proto.mutable_create_time() = ttl::ToProto(subscription.create_time);
  proto.set_acknowledged_sequence(subscription.acknowledged_sequence);
  proto.set_last_sequence(view.last_sequence);
  if (const auto oldest = OldestUnacknowledged(container, view); oldest.has_value()) {
    *proto.mutable_oldest_unacknowledged_time() = ttl::ToProto(*oldest);
  }
  proto.set_streams(parts_.sent.Streams(container.feed.number, subscription.name));
  proto.set_has_lost_events(view.has_lost_events);
  proto.set_epoch(parts_.feed.EpochOf(container));
  proto.set_gate(subscription.gate);
  if (subscription.give_up_after_seconds > 0) {
    *proto.mutable_give_up_after() =
        ttl::ToProto(absl::Seconds(subscription.give_up_after_seconds));
  }
  proto.set_given_up_sequence(view.given_up_sequence);
  return proto;
}

std::optional<absl::Time> FeedView::OldestUnacknowledged(const Container& container,
                                                         const SubscriptionView& view) const {
  return OldestBehind(container, view, view.subscription.acknowledged_sequence);
}

std::vector<FeedView::WaitingGate> FeedView::WaitingGates(const Container& container) const {
  std::vector<WaitingGate> waiting;
  for (std::string& name : parts_.feed.GatesThatWait(container)) {
    const std::optional<SubscriptionView> view = parts_.feed.Find(container.id, name);
    if (!view.has_value()) continue;  // deleted meanwhile
    const uint64_t passed =
        std::max(view->subscription.acknowledged_sequence, view->given_up_sequence);
    waiting.push_back({std::move(name), OldestBehind(container, *view, passed)});
  }
  return waiting;
}

std::optional<absl::Time> FeedView::OldestBehind(const Container& container,
                                                 const SubscriptionView& view,
                                                 uint64_t after) const {
  if (view.last_sequence <= after) return std::nullopt;
  const FeedFigures figures = parts_.feed.Figures(container);
  const bool is_before_all =
      after <= std::max(figures.dropped_sequence, container.feed.first_sequence);
  if (is_before_all && figures.oldest_time.has_value()) return figures.oldest_time;
  const absl::StatusOr<EventsBehind> behind =
      parts_.feed.CountBehind(container, after, /*limit=*/1);
  return behind.ok() ? behind->oldest_time : std::nullopt;
}

EventsBehind FeedView::Behind(const Container& container, const SubscriptionView& view) const {
  const uint64_t acknowledged = view.subscription.acknowledged_sequence;
  if (view.last_sequence <= acknowledged) return {};
  const EventsBehind unknown = {.count = 0, .is_lower_bound = true, .oldest_time = std::nullopt};
  return parts_.feed.CountBehind(container, acknowledged, kMaxCounted).value_or(unknown);
}

}  // namespace ttl
