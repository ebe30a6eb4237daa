#include "service/rpc/services/event_position.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/rpc/mapping/event_token.h"
#include "service/rpc/services/container_lookup.h"

// A response may say that all expiries up to a time have been announced only if they have been
// sent. So the watermarks are read first and the log after them, and the watermark is passed on
// only if the log was read to its end; until then the response repeats what could be said before,
// unless that has fallen back meanwhile.

namespace ttl {
namespace {

// A container with an older watermark keeps back that of the stream.
constexpr absl::Duration kMaxLag = absl::Seconds(1);

}  // namespace

absl::StatusOr<EventPosition> EventPosition::Open(const Parts& parts, WatchRequest request) {
  EventPosition position(parts, std::move(request));
  TTL_RETURN_IF_ERROR(position.Begin());
  return position;
}

absl::Status EventPosition::Begin() {
  for (const std::string& id : request_.containers) {
    TTL_ASSIGN_OR_RETURN(ContainerPtr found, FindContainerWithFeed(parts_.containers, id));
    epochs_.push_back(parts_.feed.EpochOf(*found));
    containers_.push_back(std::move(found));
  }
  feed_ = containers_[0]->feed.number;
  containers_hash_ = HashOfContainers(request_.containers);
  epoch_ = CombinedEpoch(epochs_);
  if (subscription().empty()) return BeginAtToken();
  TTL_ASSIGN_OR_RETURN(const SubscriptionView found,
                       FindSubscription(parts_.feed, container(), subscription()));
  subscribed_ = found.subscription.create_time;
  is_gate_ = found.subscription.gate;
  request_.kinds = found.subscription.kinds;
  sequence_ = found.subscription.acknowledged_sequence;
  return absl::OkStatus();
}

absl::Status EventPosition::BeginAtToken() {
  sequence_ = parts_.feed.LastSequence();
  if (request_.token.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const EventToken token,
                       DecodeEventToken("containers.token", request_.token));
  if (token.containers != containers_hash_) {
    return InvalidField("containers.token",
                        "containers.token is of other containers: must be empty or the token of a "
                        "response for the same containers.ids");
  }
  if (token.epoch != epoch_) return LogReplaced(request_.containers);
  sequence_ = token.sequence;
  return absl::OkStatus();
}

absl::Status EventPosition::FindAgain() {
  for (size_t i = 0; i < containers_.size(); ++i) {
    const std::string& id = request_.containers[i];
    TTL_ASSIGN_OR_RETURN(containers_[i], FindContainerWithFeed(parts_.containers, id));
    if (parts_.feed.EpochOf(*containers_[i]) != epochs_[i]) return LogReplaced({id});
  }
  if (subscription().empty()) return absl::OkStatus();
  return FindSubscriptionAgain().status();
}

absl::StatusOr<SubscriptionView> EventPosition::FindSubscriptionAgain() const {
  TTL_ASSIGN_OR_RETURN(SubscriptionView found,
                       FindSubscription(parts_.feed, container(), subscription()));
  if (found.subscription.create_time == subscribed_) return found;
  return NoSuchSubscription(container(), subscription());
}

absl::Status EventPosition::EventsDropped() const {
  if (!subscription().empty()) {
    return MakeError(
        Reason::kEventsDropped,
        absl::StrCat("events that subscription ", Quoted(subscription(), kMaxSubscriptionNameBytes),
                     " has not acknowledged were dropped: read its last_sequence, compare with the "
                     "store, acknowledge it, then watch again"),
        {{"container", container()}});
  }
  const auto dropped =
      std::find_if(containers_.begin(), containers_.end(), [this](const ContainerPtr& watched) {
        return parts_.feed.Figures(*watched).dropped_sequence > sequence_;
      });
  const std::string id = dropped == containers_.end() ? container() : (*dropped)->id;
  return MakeError(
      Reason::kEventsDropped,
      absl::StrCat("events of container ", Quoted(id, kMaxContainerIdBytes),
                   " after the token were dropped: open a stream without a token, wait for its "
                   "first response, then compare with the store"),
      {{"container", id}});
}

absl::StatusOr<EventPosition::Found> EventPosition::Next(v1::WatchEventsResponse& message) {
  TTL_RETURN_IF_ERROR(FindAgain());
  Progress progress = ReadProgress();
  const absl::StatusOr<FeedPage> page =
      parts_.feed.Read({.containers = containers_, .after = sequence_, .kinds = request_.kinds});
  if (absl::IsOutOfRange(page.status())) {
    return is_gate_ ? PassDropped(message) : EventsDropped();
  }
  TTL_RETURN_IF_ERROR(page.status());
  sequence_ = page->reached;
  KeepProgress(std::move(progress), !page->more);
  message.Clear();
  AddEvents(*page, message);
  if (page->entries.empty()) return page->more ? Found::kMore : Found::kNothing;
  Stamp(message);
  return Found::kEvents;
}

absl::StatusOr<EventPosition::Found> EventPosition::PassDropped(v1::WatchEventsResponse& message) {
  const uint64_t dropped = parts_.feed.Figures(*containers_[0]).dropped_sequence;
  if (dropped <= sequence_) return EventsDropped();
  sequence_ = dropped;
  FeedEvent resync;
  resync.kind = EventKind::kResync;
  resync.sequence = dropped;
  FeedPage page;
  page.entries.push_back({containers_[0], std::move(resync)});
  message.Clear();
  AddEvents(page, message);
  Stamp(message);
  return Found::kEvents;
}

void EventPosition::Heartbeat(v1::WatchEventsResponse& message) {
  message.Clear();
  Stamp(message);
}

void EventPosition::AddEvents(const FeedPage& page, v1::WatchEventsResponse& message) {
  if (page.entries.empty()) return;
  for (const FeedPage::Entry& entry : page.entries) {
    *message.add_events() = ToProto(entry.event, entry.container->id);
  }
  last_sent_ = page.entries.back().event.sequence;
  parts_.sent.CountEvents(message.events_size());
  if (!subscription().empty()) parts_.sent.Send(feed(), subscription(), last_sent_);
}

std::optional<uint64_t> EventPosition::PassedSequence() const {
  if (subscription().empty()) return std::nullopt;
  const absl::StatusOr<SubscriptionView> view = FindSubscriptionAgain();
  if (!view.ok()) return std::nullopt;
  const uint64_t acknowledged = view->subscription.acknowledged_sequence;
  // An event that came since Next() may be one that it reads.
  const bool is_passed = view->last_sequence > acknowledged && view->last_sequence <= sequence_;
  if (!is_passed || last_sent_ > acknowledged) return std::nullopt;
  return view->last_sequence;
}

EventPosition::Progress EventPosition::ReadProgress() const {
  const absl::Time now = parts_.clock.Read().now;
  std::vector<std::pair<absl::Time, size_t>> lagging;  // watermark, and position in containers_
  std::vector<FeedProgress::View> views;
  absl::Time least = absl::InfiniteFuture();
  for (size_t i = 0; i < containers_.size(); ++i) {
    views.push_back(parts_.progress.Of(*containers_[i]));
    const absl::Time watermark = views[i].watermark.value_or(absl::InfinitePast());
    least = std::min(least, watermark);
    if (watermark < now - kMaxLag) lagging.emplace_back(watermark, i);
  }
  std::sort(lagging.begin(), lagging.end());
  Progress progress;
  if (least != absl::InfinitePast()) progress.watermark = least;
  for (const auto& [watermark, i] : lagging) {
    if (progress.stall.empty()) progress.stall = views[i].stall;
    if (progress.lagging.size() < kMaxLagging) progress.lagging.push_back(request_.containers[i]);
  }
  return progress;
}

void EventPosition::KeepProgress(Progress progress, bool at_end) {
  if (!at_end) {
    const bool both = progress.watermark.has_value() && progress_.watermark.has_value();
    progress.watermark = both ? std::min(progress.watermark, progress_.watermark) : std::nullopt;
  }
  progress_ = std::move(progress);
}

void EventPosition::Stamp(v1::WatchEventsResponse& message) const {
  const ClockStatus clock = parts_.clock.Status();
  message.set_token(
      EncodeEventToken({.containers = containers_hash_, .epoch = epoch_, .sequence = sequence_}));
  message.set_epoch(epoch_);
  if (progress_.watermark.has_value()) {
    *message.mutable_watermark() = ToProto(*progress_.watermark);
  }
  for (const std::string& id : progress_.lagging) message.add_lagging_containers(id);
  message.set_stall_reason(progress_.stall);
  *message.mutable_server_time() = ToProto(clock.time.now);
  message.set_clock_state(clock.suspect ? v1::CLOCK_STATE_SUSPECT : v1::CLOCK_STATE_SOUND);
}

}  // namespace ttl
