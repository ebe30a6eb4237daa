#include "service/storage/feed/feed_log.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/base/wake_signal.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/key_codec.h"

// Sequences are given out when events are gathered, and commits are gathered in the order in which
// they are written, so the order of sequences is the order of commits. A reader may read up to the
// last published sequence: nothing smaller is written any more.
//
// The block of the last sequence that a commit uses, for an event or as the position of a new
// subscription or feed, is reserved in that commit, so that a start goes on behind every sequence
// that may have been used. A start, and a reopening after a failed write, which may be stored all
// the same, skip the rest of the block. Sequences that were given out for nothing, because a write
// failed, are not reserved, so they must not be published either.
//
// A gate passes an event by its acknowledgement, by being given up, or because it cannot read the
// event any more (gate_sequence), in which case GateView::again_up_to makes the sweep log
// the EXPIRED again. Being given up is not stored: after a start housekeeping finds it out anew.
// But what was dropped before that, without being acknowledged, and without raising gate_sequence,
// must have been given up.
//
// After a start the events on disk are counted by housekeeping, from the front to the last one that
// was there (count_until). Events that are logged meanwhile count at once. An event that is dropped
// is subtracted if it was counted.
namespace ttl {
namespace {

absl::StatusOr<uint64_t> LoadReservedEnd(const Database& database) {
  TTL_ASSIGN_OR_RETURN(const auto stored, database.Get(MetaKey(kNextEventFact)));
  uint64_t end = 1;
  if (stored.has_value() && (!absl::SimpleAtoi(*stored, &end) || end == 0)) {
    return absl::DataLossError(absl::StrCat("the counter of events is unreadable: ", *stored));
  }
  return end;
}

// One that cannot be read counts from 0: late rather than early.
absl::StatusOr<int64_t> LoadServedSeconds(const Database& database) {
  TTL_ASSIGN_OR_RETURN(const auto stored, database.Get(MetaKey(kServedSecondsFact)));
  int64_t seconds = 0;
  const bool is_known = stored.has_value() && absl::SimpleAtoi(*stored, &seconds) && seconds > 0;
  return is_known ? seconds : 0;
}

}  // namespace

absl::Status FeedLog::Load(const Database& database, const std::vector<ContainerPtr>& containers,
                           int64_t data_format) {
  uint64_t reserved_end = 1;
  std::map<uint64_t, OfFeed> feeds;
  std::vector<std::string> problems;
  std::vector<std::pair<uint64_t, std::string>> raised;
  int64_t served_seconds = 0;
  if (data_format >= kFeedDataFormat) {
    TTL_ASSIGN_OR_RETURN(reserved_end, LoadReservedEnd(database));
  }
  if (data_format >= kGateDataFormat) {
    TTL_ASSIGN_OR_RETURN(served_seconds, LoadServedSeconds(database));
  }
  uint64_t last_used = reserved_end - 1;
  for (const ContainerPtr& container : containers) {
    if (!container->feed.is_on()) continue;
    const uint64_t number = container->feed.number;
    OfFeed& feed = feeds[number];
    feed.state.container = container->number;
    feed.state.container_id = container->id;
    feed.state.max_bytes = container->settings.feed->max_bytes;
    TTL_RETURN_IF_ERROR(LoadEnds(database, number, reserved_end - 1, feed.state, problems));
    TTL_RETURN_IF_ERROR(LoadSubscriptions(database, number, feed, problems));
    const bool may_have_gates = data_format >= kGateDataFormat && container->feed.has_gates;
    LoadGates(feed, may_have_gates, raised, number);
    // None of these is beyond what is reserved, unless the data was damaged.
    last_used = std::max({last_used, container->feed.first_sequence, feed.state.last_sequence});
    for (const auto& [name, subscription] : feed.subscriptions) {
      served_seconds = std::max(served_seconds, subscription.served_seconds);
      last_used = std::max(last_used, subscription.acknowledged_sequence);
    }
  }
  {
    MutexLock lock(clock_mutex_);
    served_ = std::max(served_, absl::Seconds(served_seconds));
  }
  const absl::Time now = Moment().now;
  MutexLock lock(mutex_);
  last_given_ = std::max(LastGiven(), last_used);
  last_published_ = last_used;
  reserved_end_ = reserved_end;
  feeds_ = std::move(feeds);
  problems_ = std::move(problems);
  raised_ = std::move(raised);
  if (data_format >= kGateDataFormat) may_have_gated_ = true;
  UpdateAllGates(now);
  feed_by_container_.clear();
  feed_by_id_.clear();
  for (const auto& [number, feed] : feeds_) {
    feed_by_container_[feed.state.container] = number;
    feed_by_id_[feed.state.container_id] = number;
  }
  for (WakeSignal* listener : listeners_) listener->Notify();
  return absl::OkStatus();
}

// If the last event cannot be read, the log is taken to reach to the last sequence that may have
// been used: so readers go on to there, and read the damage as RESYNC.
absl::Status FeedLog::LoadEnds(const Database& database, uint64_t number, uint64_t last_reserved,
                               State& state, std::vector<std::string>& problems) {
  TTL_ASSIGN_OR_RETURN(state.dropped_sequence,
                       LoadDropped(database, number, last_reserved, state.lost_front));
  const absl::StatusOr<std::optional<std::string>> last = database.LastKey(EventPrefix(number));
  state.last_sequence = state.dropped_sequence;
  if (absl::IsDataLoss(last.status())) {
    state.last_sequence = std::max(state.dropped_sequence, last_reserved);
    state.damaged_end = state.last_sequence;
    problems.push_back(absl::StrCat(
        "the last events of container \"", state.container_id,
        "\" cannot be read, its readers get RESYNC for them: ", last.status().message()));
  } else {
    TTL_RETURN_IF_ERROR(last.status());
    if (last->has_value()) state.last_sequence = DecodeEventSequence(**last).value_or(0);
  }
  if (!state.is_empty()) state.counted_to = state.dropped_sequence;
  state.count_until = state.last_sequence;
  return absl::OkStatus();
}

// If the record cannot be read, what is before the first event that can be read counts as dropped.
absl::StatusOr<uint64_t> FeedLog::LoadDropped(const Database& database, uint64_t number,
                                              uint64_t last_reserved, bool& is_guess) {
  const absl::StatusOr<std::optional<std::string>> trim = database.Get(FeedTrimKey(number));
  if (trim.ok() && !trim->has_value()) return uint64_t{0};
  if (!trim.ok() && !absl::IsDataLoss(trim.status())) return trim.status();
  const absl::StatusOr<uint64_t> dropped = trim.ok() ? DecodeFeedTrim(**trim) : trim.status();
  if (dropped.ok()) return *dropped;
  is_guess = true;
  auto first = database.ReadPrefix(EventPrefix(number));
  if (first.Valid()) return DecodeEventSequence(first.key()).value_or(1) - 1;
  if (absl::IsDataLoss(first.status())) return last_reserved;
  TTL_RETURN_IF_ERROR(first.status());
  return uint64_t{0};
}

absl::Status FeedLog::LoadSubscriptions(const Database& database, uint64_t number, OfFeed& feed,
                                        std::vector<std::string>& problems) {
  auto cursor = database.ReadPrefix(SubscriptionPrefix(number));
  for (; cursor.Valid(); cursor.Next()) {
    const std::string name = DecodeSubscriptionName(cursor.key()).value_or("");
    absl::StatusOr<Subscription> subscription = DecodeSubscription(name, cursor.value());
    if (subscription.ok()) {
      feed.subscriptions.emplace(name, *std::move(subscription));
      continue;
    }
    feed.unreadable.insert(name);
    problems.push_back(absl::StrCat("subscription \"", name, "\" of container \"",
                                    feed.state.container_id,
                                    "\" is left out: ", subscription.status().message()));
  }
  if (!absl::IsDataLoss(cursor.status())) return cursor.status();
  feed.may_lack_more = true;
  problems.push_back(absl::StrCat("some subscriptions of container \"", feed.state.container_id,
                                  "\" may be left out: ", cursor.status().message()));
  return absl::OkStatus();
}

void FeedLog::LoadGates(OfFeed& feed, bool may_have_gates,
                        std::vector<std::pair<uint64_t, std::string>>& raised, uint64_t number) {
  // The container says in the same commit whether there are gates.
  if (!may_have_gates) {
    feed.unreadable.clear();
    feed.may_lack_more = false;
  }
  const State& state = feed.state;
  const uint64_t lost = std::max(state.lost_front ? state.dropped_sequence : 0, state.damaged_end);
  for (auto& [name, subscription] : feed.subscriptions) {
    if (!subscription.gate) continue;
    if (feed.GateOf(subscription).passed() < lost) {
      subscription.gate_sequence = lost;
      raised.emplace_back(number, name);
    }
    if (feed.GateOf(subscription).passed() < state.dropped_sequence) {
      feed.places[name].given_up = state.dropped_sequence;
    }
  }
}

std::vector<std::string> FeedLog::Problems() const {
  MutexLock lock(mutex_);
  return problems_;
}

void FeedLog::SetClock(FeedClock clock) {
  {
    MutexLock lock(clock_mutex_);
    clock_ = std::move(clock);
    last_steady_.reset();
  }
  // What was passed before is known from now on.
  const absl::Time now = Moment().now;
  MutexLock lock(mutex_);
  UpdateAllGates(now);
}

FeedMoment FeedLog::Moment() const {
  MutexLock lock(clock_mutex_);
  if (!clock_) return {};
  FeedMoment moment = clock_();
  if (moment.steady == absl::ZeroDuration()) return moment;
  const absl::Duration step = moment.steady - last_steady_.value_or(moment.steady);
  served_ += std::clamp(step, absl::ZeroDuration(), kLongestStep);
  last_steady_ = moment.steady;
  return moment;
}

int64_t FeedLog::ServedSeconds() const {
  MutexLock lock(clock_mutex_);
  return absl::ToInt64Seconds(served_);
}

std::optional<uint64_t> FeedLog::ReservationFor(uint64_t last_sequence) const {
  MutexLock lock(mutex_);
  if (last_sequence < reserved_end_) return std::nullopt;
  return (last_sequence / kReservedBlock + 1) * kReservedBlock;
}

std::vector<uint64_t> FeedLog::Publish(const Changes& changes) {
  const bool is_change = !changes.containers.empty() || !changes.events.empty() ||
                         !changes.drops.empty() || !changes.subscriptions.empty() ||
                         !changes.placed.empty();
  std::vector<uint64_t> freed;
  if (!is_change) return freed;
  const bool moves_gates = !changes.subscriptions.empty() || !changes.placed.empty();
  const absl::Time now = moves_gates ? Moment().now : absl::UnixEpoch();
  MutexLock lock(mutex_);
  bool is_gone = !changes.subscriptions.empty();
  for (const auto& [number, container] : changes.containers) {
    is_gone = PublishContainer(number, container) || is_gone;
  }
  for (const Logged& event : changes.events) PublishEvent(event);
  for (const Drop& drop : changes.drops) PublishDrop(drop);
  for (const Subscribed& subscribed : changes.subscriptions) PublishSubscription(subscribed);
  for (const Placed& placed : changes.placed) PublishPlace(placed);
  if (moves_gates) freed = UpdateGates(changes, now);
  if (is_gone) CountGates();
  // What is gathered later gets larger sequences than those that were given out until then.
  const uint64_t last = changes.used_sequence;
  if (last >= reserved_end_) reserved_end_ = (last / kReservedBlock + 1) * kReservedBlock;
  if (last > LastPublished()) last_published_.store(last, std::memory_order_release);
  if (changes.events.empty() && !is_gone) return freed;
  for (WakeSignal* listener : listeners_) listener->Notify();
  return freed;
}

bool FeedLog::PublishContainer(uint64_t number, const ContainerPtr& container) {
  const uint64_t feed = container == nullptr ? 0 : container->feed.number;
  const auto known = feed_by_container_.find(number);
  const bool is_gone = known != feed_by_container_.end() && known->second != feed;
  if (is_gone) {
    const auto gone = feeds_.find(known->second);
    // A container of the same id may have been created in the same commit.
    const auto named = feed_by_id_.find(gone->second.state.container_id);
    if (named != feed_by_id_.end() && named->second == known->second) feed_by_id_.erase(named);
    feeds_.erase(gone);
    feed_by_container_.erase(known);
  }
  if (feed == 0) return is_gone;
  const bool is_known = feeds_.contains(feed);
  State& state = feeds_[feed].state;
  state.max_bytes = container->settings.feed.value_or(FeedSettings()).max_bytes;
  if (is_known) return is_gone;
  state.container = number;
  state.container_id = container->id;
  feed_by_container_[number] = feed;
  feed_by_id_[container->id] = feed;
  return is_gone;
}

void FeedLog::PublishEvent(const Logged& event) {
  const auto it = feeds_.find(event.feed);
  if (it == feeds_.end()) return;  // switched off in the same commit
  State& state = it->second.state;
  if (state.is_empty()) {
    state.oldest_time = event.time;
    state.front_sequence = event.sequence;
  }
  state.last_sequence = event.sequence;
  ++state.events;
  state.bytes += event.bytes;
}

void FeedLog::PublishDrop(const Drop& drop) {
  const auto it = feeds_.find(drop.feed);
  if (it == feeds_.end()) return;
  State& state = it->second.state;
  for (const auto& [sequence, bytes] : drop.events) {
    const bool is_uncounted = state.counted_to.has_value() && sequence > *state.counted_to &&
                              sequence <= state.count_until;
    if (is_uncounted) continue;
    --state.events;
    state.bytes -= bytes;
  }
  state.dropped_sequence = std::max(state.dropped_sequence, drop.dropped_sequence);
  if (drop.recount || state.is_empty()) {
    state.events = state.bytes = 0;
    state.count_until = state.last_sequence;
    state.counted_to.reset();
    if (!state.is_empty()) state.counted_to = state.dropped_sequence;
  }
  if (state.counted_to.has_value()) {
    state.counted_to = std::max(*state.counted_to, drop.dropped_sequence);
  }
  state.oldest_time = drop.next_time;
  state.front_sequence = drop.next_sequence;
}

void FeedLog::PublishSubscription(const Subscribed& subscribed) {
  const auto it = feeds_.find(subscribed.feed);
  if (it == feeds_.end()) return;
  if (subscribed.subscription.has_value()) {
    Subscription& present = it->second.subscriptions[subscribed.name];
    const Subscription before = std::exchange(present, *subscribed.subscription);
    it->second.unreadable.erase(subscribed.name);
    if (before.create_time != present.create_time) {
      it->second.places.erase(subscribed.name);
    } else {
      // It may have been raised while the commit was gathered.
      present.gate_sequence = std::max(present.gate_sequence, before.gate_sequence);
    }
  } else {
    it->second.subscriptions.erase(subscribed.name);
    it->second.places.erase(subscribed.name);
  }
}

void FeedLog::PublishPlace(const Placed& placed) {
  const auto it = feeds_.find(placed.feed);
  if (it == feeds_.end()) return;
  const auto gate = it->second.subscriptions.find(placed.name);
  if (gate == it->second.subscriptions.end()) return;
  if (gate->second.create_time != placed.create_time) return;
  GatePlace& place = it->second.places[placed.name];
  place.given_up = std::max(place.given_up, placed.place.given_up);
  place.passed_over = std::max(place.passed_over, placed.place.passed_over);
}

FeedLog::Gate FeedLog::OfFeed::GateOf(const Subscription& subscription) const {
  const auto found = places.find(subscription.name);
  return {subscription, found == places.end() ? GatePlace() : found->second};
}

// While the front is stale, because nothing was dropped since a gate has passed it, there is still
// a bound.
bool FeedLog::OfFeed::IsFull() const {
  if (!gates.has_gates || gates.passed >= state.last_sequence) return false;
  if (state.bytes < state.max_bytes) return false;
  return state.front_sequence > kept_behind || state.bytes >= state.max_bytes + state.max_bytes / 2;
}

bool FeedLog::OfFeed::UpdateGates(absl::Time now) {
  GateView view;
  if (lacks_subscriptions()) {
    view.has_gates = true;
    view.passed = 0;
  }
  kept_behind = view.passed;
  can_give_up = false;
  for (const auto& [name, subscription] : subscriptions) {
    if (!subscription.gate) continue;
    view.has_gates = true;
    const Gate gate = GateOf(subscription);
    view.passed = std::min(view.passed, gate.passed());
    kept_behind = std::min(kept_behind, gate.kept_behind());
    can_give_up = can_give_up || subscription.give_up_after_seconds > 0;
    view.again_up_to = std::max(view.again_up_to, subscription.gate_sequence);
  }
  const bool is_more = view.passed > gates.passed;
  if (view.has_gates || gates.has_gates) pass_times.Note(view.passed, absl::ToUnixSeconds(now));
  gates = view;
  return is_more;
}

std::vector<uint64_t> FeedLog::UpdateGates(const Changes& changes, absl::Time now) {
  std::vector<uint64_t> freed;
  const auto update = [&](uint64_t feed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = feeds_.find(feed);
    if (it == feeds_.end() || !it->second.UpdateGates(now)) return;
    freed.push_back(it->second.state.container);
  };
  for (const Subscribed& subscribed : changes.subscriptions) update(subscribed.feed);
  for (const Placed& placed : changes.placed) update(placed.feed);
  return freed;
}

void FeedLog::UpdateAllGates(absl::Time now) {
  for (auto& [number, feed] : feeds_) feed.UpdateGates(now);
  CountGates();
}

// There are at most kMaxSubscriptions.
void FeedLog::CountGates() {
  int64_t gates = 0;
  int64_t to_give_up = 0;
  for (const auto& [number, feed] : feeds_) {
    if (feed.lacks_subscriptions()) ++gates;
    for (const auto& [name, subscription] : feed.subscriptions) {
      if (!subscription.gate) continue;
      ++gates;
      if (subscription.give_up_after_seconds > 0) ++to_give_up;
    }
  }
  if (gates > 0) may_have_gated_ = true;
  gates_ = gates;
  gates_to_give_up_ = to_give_up;
}

GateView FeedLog::Gates(uint64_t feed) const {
  if (gates_ == 0) return {};
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return {};
  GateView view = it->second.gates;
  view.is_full = it->second.IsFull();
  return view;
}

PassTimes FeedLog::PassTimesOf(uint64_t feed) const {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  return it == feeds_.end() ? PassTimes() : it->second.pass_times;
}

std::vector<FeedLog::Gate> FeedLog::GatesOf(uint64_t feed) const {
  std::vector<Gate> gates;
  if (gates_ == 0) return gates;
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return gates;
  for (const auto& [name, subscription] : it->second.subscriptions) {
    if (subscription.gate) gates.push_back(it->second.GateOf(subscription));
  }
  return gates;
}

FeedLog::GatePlace FeedLog::PlaceOf(uint64_t feed, absl::string_view name) const {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return {};
  const auto found = it->second.places.find(name);
  return found == it->second.places.end() ? GatePlace() : found->second;
}

uint64_t FeedLog::KeptBehind(uint64_t feed) const {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  return it == feeds_.end() ? std::numeric_limits<uint64_t>::max() : it->second.kept_behind;
}

bool FeedLog::LacksSubscriptions(uint64_t feed) const {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  return it != feeds_.end() && it->second.lacks_subscriptions();
}

bool FeedLog::CanGiveUp(uint64_t feed) const {
  if (gates_to_give_up_ == 0) return false;
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  return it != feeds_.end() && it->second.can_give_up;
}

void FeedLog::NoteMissing(uint64_t feed, uint64_t sequence) {
  if (gates_ == 0) return;
  const absl::Time now = Moment().now;
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return;
  for (auto& [name, subscription] : it->second.subscriptions) {
    if (!subscription.gate || it->second.GateOf(subscription).kept_behind() >= sequence) continue;
    subscription.gate_sequence = sequence;
    raised_.emplace_back(feed, name);
  }
  it->second.UpdateGates(now);
}

std::vector<std::pair<uint64_t, std::string>> FeedLog::TakeRaised() {
  MutexLock lock(mutex_);
  return std::exchange(raised_, {});
}

std::optional<FeedLog::State> FeedLog::Find(uint64_t feed) const {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return std::nullopt;
  return it->second.state;
}

std::vector<uint64_t> FeedLog::Feeds(uint64_t first, size_t limit) const {
  std::vector<uint64_t> numbers;
  MutexLock lock(mutex_);
  for (auto it = feeds_.lower_bound(first); it != feeds_.end() && numbers.size() < limit; ++it) {
    numbers.push_back(it->first);
  }
  return numbers;
}

void FeedLog::AddCounted(uint64_t feed, uint64_t reached, int64_t events, int64_t bytes,
                         bool finished) {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end() || !it->second.state.counted_to.has_value()) return;
  State& state = it->second.state;
  state.events += events;
  state.bytes += bytes;
  state.counted_to = reached;
  if (finished) state.counted_to.reset();
}

void FeedLog::NoteOldest(uint64_t feed, uint64_t sequence, std::optional<absl::Time> time) {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return;
  it->second.state.oldest_time = time;
  it->second.state.front_sequence = sequence;
}

void FeedLog::SetDropped(uint64_t feed, uint64_t dropped_sequence) {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it != feeds_.end()) it->second.state.dropped_sequence = dropped_sequence;
}

// An event that was logged meanwhile seemed to be the first one.
void FeedLog::TakeBackDropped(uint64_t feed, uint64_t dropped_sequence) {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return;
  it->second.state.dropped_sequence = dropped_sequence;
  it->second.state.oldest_time.reset();
  it->second.state.front_sequence = 0;
}

std::optional<Subscription> FeedLog::FindSubscription(uint64_t feed, absl::string_view name) const {
  MutexLock lock(mutex_);
  const auto it = feeds_.find(feed);
  if (it == feeds_.end()) return std::nullopt;
  const auto found = it->second.subscriptions.find(name);
  if (found == it->second.subscriptions.end()) return std::nullopt;
  return found->second;
}

int64_t FeedLog::CountSubscriptions(uint64_t feed) const {
  size_t count = 0;
  MutexLock lock(mutex_);
  if (feed != 0) {
    const auto it = feeds_.find(feed);
    return it == feeds_.end() ? 0 : static_cast<int64_t>(it->second.subscriptions.size());
  }
  for (const auto& [number, of_feed] : feeds_) count += of_feed.subscriptions.size();
  return static_cast<int64_t>(count);
}

std::vector<std::pair<uint64_t, Subscription>> FeedLog::ListSubscriptions(
    uint64_t feed, absl::string_view after_container, absl::string_view after_name,
    size_t limit) const {
  std::vector<std::pair<uint64_t, Subscription>> found;
  MutexLock lock(mutex_);
  const auto add = [&](uint64_t number, const OfFeed& of_feed, bool all) {
    const auto& subscriptions = of_feed.subscriptions;
    auto it = all ? subscriptions.begin() : subscriptions.upper_bound(after_name);
    for (; it != subscriptions.end() && found.size() < limit; ++it) {
      found.emplace_back(number, it->second);
    }
  };
  if (feed != 0) {
    const auto it = feeds_.find(feed);
    if (it != feeds_.end()) add(feed, it->second, /*all=*/false);
    return found;
  }
  for (auto it = feed_by_id_.lower_bound(after_container);
       it != feed_by_id_.end() && found.size() < limit; ++it) {
    add(it->second, feeds_.at(it->second), /*all=*/it->first != after_container);
  }
  return found;
}

void FeedLog::AddListener(WakeSignal& signal) {
  MutexLock lock(mutex_);
  listeners_.push_back(&signal);
}

void FeedLog::RemoveListener(WakeSignal& signal) {
  MutexLock lock(mutex_);
  std::erase(listeners_, &signal);
}

}  // namespace ttl
