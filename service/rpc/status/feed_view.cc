#include "service/rpc/status/feed_view.h"

#include <cstdint>
#include <string>

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
  for (const SubscriptionView& view : parts_.feed.List(container.id, "", "", kMaxSubscriptions)) {
    *status.add_subscriptions() = StatusOf(container, view);
  }
  return status;
}

v1::SubscriptionStatus FeedView::StatusOf(const Container& container,
                                          const SubscriptionView& view) const {
  const std::string& name = view.subscription.name;
  const EventsBehind behind = Behind(container, view, kMaxCounted);
  v1::SubscriptionStatus status;
  status.set_name(name);
  status.set_unacknowledged_events(behind.count);
  status.set_is_lower_bound(behind.is_lower_bound);
  if (behind.oldest_time.has_value()) {
    *status.mutable_oldest_unacknowledged_time() = ttl::ToProto(*behind.oldest_time);
  }
  status.set_streams(parts_.sent.Streams(container.feed.number, name));
  status.set_has_lost_events(view.has_lost_events);
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
  return proto;
}

std::optional<absl::Time> FeedView::OldestUnacknowledged(const Container& container,
                                                         const SubscriptionView& view) const {
  return Behind(container, view, /*limit=*/1).oldest_time;
}

EventsBehind FeedView::Behind(const Container& container, const SubscriptionView& view,
                              size_t limit) const {
  const uint64_t acknowledged = view.subscription.acknowledged_sequence;
  if (view.last_sequence <= acknowledged) return {};
  const EventsBehind unknown = {.count = 0, .is_lower_bound = true, .oldest_time = std::nullopt};
  return parts_.feed.CountBehind(container, acknowledged, limit).value_or(unknown);
}

}  // namespace ttl
