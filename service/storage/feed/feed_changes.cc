#include "service/storage/feed/feed_changes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/key_codec.h"

namespace ttl {
namespace {

constexpr uint64_t kAllFeeds = 0;

}  // namespace

const FeedMoment& FeedChanges::moment() {
  if (!moment_.has_value()) moment_ = log_.Moment();
  return *moment_;
}

uint64_t FeedChanges::Add(uint64_t feed, FeedEvent event) {
  event.time = moment().now;
  event.sequence = used_top_ = log_.NextSequence();
  // Rounded up: a gate is given up late rather than early.
  if (event.kind == EventKind::kExpired && log_.CanGiveUp(feed)) {
    event.served_seconds = log_.ServedSeconds() + 1;
  }
  Encoded encoded = {EventKey(feed, event.sequence), EncodeEvent(event)};
  const auto bytes = static_cast<int64_t>(encoded.key.size() + encoded.value.size());
  events_.push_back({feed, event.sequence, event.time, bytes});
  encoded_.push_back(std::move(encoded));
  return event.sequence;
}

std::optional<Subscription> FeedChanges::FindSubscription(uint64_t feed,
                                                          absl::string_view name) const {
  const Change* gathered = subscriptions_.Find(SubscriptionKey(feed, name));
  return gathered != nullptr ? gathered->subscription : log_.FindSubscription(feed, name);
}

int64_t FeedChanges::CountSubscriptions(uint64_t feed) const {
  const int64_t* gathered = counts_.Find(feed);
  return gathered != nullptr ? *gathered : log_.CountSubscriptions(feed);
}

void FeedChanges::PutSubscription(uint64_t feed, const Subscription& subscription) {
  if (!FindSubscription(feed, subscription.name).has_value()) {
    counts_.Set(feed, CountSubscriptions(feed) + 1);
    counts_.Set(kAllFeeds, CountSubscriptions(kAllFeeds) + 1);
  }
  subscriptions_.Set(SubscriptionKey(feed, subscription.name),
                     {feed, subscription.name, subscription});
}

void FeedChanges::EraseSubscription(uint64_t feed, const std::string& name) {
  if (!FindSubscription(feed, name).has_value()) return;
  counts_.Set(feed, CountSubscriptions(feed) - 1);
  counts_.Set(kAllFeeds, CountSubscriptions(kAllFeeds) - 1);
  subscriptions_.Set(SubscriptionKey(feed, name), {feed, name, std::nullopt});
}

std::vector<FeedLog::Gate> FeedChanges::GatesOf(uint64_t feed) const {
  std::vector<FeedLog::Gate> gates;
  for (FeedLog::Gate& gate : log_.GatesOf(feed)) {
    const std::string key = SubscriptionKey(feed, gate.subscription.name);
    if (subscriptions_.Find(key) == nullptr) gates.push_back(std::move(gate));
  }
  for (const auto& [key, change] : subscriptions_.all()) {
    if (change.feed != feed || !change.subscription.has_value()) continue;
    if (!change.subscription->gate) continue;
    gates.push_back({*change.subscription, log_.PlaceOf(feed, change.name)});
  }
  return gates;
}

void FeedChanges::AddDrop(FeedLog::Drop drop) {
  for (FeedLog::Gate& gate : GatesOf(drop.feed)) {
    if (gate.passed() >= drop.dropped_sequence) continue;
    gate.subscription.gate_sequence = drop.dropped_sequence;
    PutSubscription(drop.feed, gate.subscription);
  }
  drops_.push_back(std::move(drop));
}

void FeedChanges::Place(FeedLog::Placed placed) { placed_.push_back(std::move(placed)); }

std::vector<std::string> FeedChanges::GivenUpFor(uint64_t feed, uint64_t expired_sequence) const {
  std::vector<std::string> names;
  if (!log_.CanGiveUpAny()) return names;
  for (const FeedLog::Gate& gate : GatesOf(feed)) {
    if (gate.subscription.acknowledged_sequence >= expired_sequence) continue;
    if (gate.place.given_up >= expired_sequence) names.push_back(gate.subscription.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void FeedChanges::Keep() {
  moment_.reset();
  used_ = std::max(used_, std::exchange(used_top_, 0));
  kept_events_ = events_.size();
  kept_drops_ = drops_.size();
  kept_placed_ = placed_.size();
  subscriptions_.Keep();
  counts_.Keep();
}

void FeedChanges::Discard() {
  moment_.reset();
  used_top_ = 0;
  events_.resize(kept_events_);
  encoded_.resize(kept_events_);
  drops_.resize(kept_drops_);
  placed_.resize(kept_placed_);
  subscriptions_.Discard();
  counts_.Discard();
}

void FeedChanges::AppendTo(WriteSet& writes) const {
  for (const Encoded& event : encoded_) writes.emplace_back(event.key, event.value);
  if (const auto reservation = log_.ReservationFor(used_); reservation.has_value()) {
    writes.emplace_back(MetaKey(kNextEventFact), absl::StrCat(*reservation));
  }
  for (const FeedLog::Drop& drop : drops_) {
    writes.emplace_back(FeedTrimKey(drop.feed), EncodeFeedTrim(drop.dropped_sequence));
    for (const auto& [sequence, bytes] : drop.events) {
      writes.emplace_back(EventKey(drop.feed, sequence), std::nullopt);
    }
  }
  for (const auto& [key, change] : subscriptions_.kept()) {
    const auto& after = change.subscription;
    writes.emplace_back(
        key, after.has_value() ? std::optional(EncodeSubscription(*after)) : std::nullopt);
  }
}

std::vector<uint64_t> FeedChanges::Publish(
    const std::vector<std::pair<uint64_t, ContainerPtr>>& containers) const {
  FeedLog::Changes changes;
  changes.containers = containers;
  changes.events = events_;
  changes.drops = drops_;
  changes.used_sequence = used_;
  for (const auto& [key, change] : subscriptions_.kept()) changes.subscriptions.push_back(change);
  changes.placed = placed_;
  return log_.Publish(changes);
}

}  // namespace ttl
