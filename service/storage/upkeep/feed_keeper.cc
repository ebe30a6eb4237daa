#include "service/storage/upkeep/feed_keeper.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/base/saturated_add.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/key_codec.h"

// Events are dropped from the front only, so what is erased is always before the first event kept,
// and a seek that begins behind the last one dropped passes none of it. The time of the first event
// kept is remembered, so that a feed within its bounds costs no read, and its sequence, so that one
// whose front a gate has not passed costs none either.
//
// A gate is given up event by event, in the order of the log: for the events up to an EXPIRED that
// was logged long enough ago in serving time. It passes over events of other kinds at once, since
// no item waits for those; they are kept all the same until it has acknowledged them. The steps
// read on from where the gate stands, and remember when they can go on.
namespace ttl {
namespace {

// Treated in one step: few enough not to be felt by the writes between.
constexpr size_t kFeedsPerStep = 500;
constexpr size_t kEventsDroppedPerStep = 1000;
constexpr size_t kEventsCountedPerStep = 5000;
constexpr size_t kEventsPassedPerStep = 5000;

// How often serving time is stored; what a kill loses of it, gates are given up later.
constexpr int64_t kServedSecondsBetweenWrites = 10;

// How many bytes are kept of a log whose front a gate has not passed.
int64_t MaxGatedBytes(const FeedSettings& settings) { return 2 * settings.max_bytes; }

// When a gate is given up for an EXPIRED, in serving time.
int64_t GiveUpTime(const Subscription& gate, const FeedEvent& expired) {
  if (gate.give_up_after_seconds == 0) return std::numeric_limits<int64_t>::max();
  const int64_t logged = expired.served_seconds > 0 ? expired.served_seconds : gate.served_seconds;
  return SaturatedAdd(logged, gate.give_up_after_seconds);
}

int64_t BytesOf(const Database::Cursor& event) {
  return static_cast<int64_t>(event.key().size() + event.value().size());
}

}  // namespace

absl::StatusOr<bool> FeedKeeper::RunOnce() {
  const std::vector<uint64_t> feeds = parts_.log.Feeds(next_, kFeedsPerStep);
  next_ = feeds.size() == kFeedsPerStep ? feeds.back() + 1 : 0;
  Budget left = {kEventsDroppedPerStep, kEventsCountedPerStep, kEventsPassedPerStep};
  if (waits_.size() > kMaxSubscriptions) waits_.clear();  // most of those gates are gone
  Plan plan;
  plan.raised = TakeRaised();
  plan.served_seconds = ServedSecondsToStore();
  absl::Status trouble;
  for (const uint64_t feed : feeds) {
    if (left.is_used_up()) {
      next_ = feed;
      break;
    }
    trouble.Update(CountSome(feed, left.events_to_count));
    trouble.Update(PlanPlaces(feed, left.events_to_pass, plan.placed));
    trouble.Update(PlanDrop(feed, left.events_to_drop, plan.drops));
  }
  trouble.Update(Commit(plan));
  more_ = more_ || left.is_used_up();
  TTL_RETURN_IF_ERROR(trouble);
  return next_ != 0 || std::exchange(more_, false);
}

// Those that could not be committed before are among them.
std::vector<std::pair<uint64_t, std::string>> FeedKeeper::TakeRaised() {
  std::vector<std::pair<uint64_t, std::string>> raised = parts_.log.TakeRaised();
  std::move(raised.begin(), raised.end(), std::back_inserter(raised_));
  return raised_;
}

std::optional<int64_t> FeedKeeper::ServedSecondsToStore() {
  if (!parts_.log.CanGiveUpAny()) return std::nullopt;
  parts_.log.Moment();  // so that serving time goes on
  const int64_t served = parts_.log.ServedSeconds();
  if (served < stored_served_seconds_ + kServedSecondsBetweenWrites) return std::nullopt;
  return served;
}

absl::Status FeedKeeper::CountSome(uint64_t feed, size_t& left) {
  const std::optional<FeedLog::State> state = parts_.log.Find(feed);
  if (!state.has_value() || !state->counted_to.has_value()) return absl::OkStatus();
  uint64_t reached = *state->counted_to;
  int64_t events = 0;
  int64_t bytes = 0;
  auto cursor = parts_.database.WalkPrefix(EventPrefix(feed), EventKey(feed, reached + 1));
  bool finished = true;
  for (; cursor.Valid(); cursor.Next()) {
    const uint64_t sequence = DecodeEventSequence(cursor.key()).value_or(0);
    if (sequence > state->count_until) break;
    if (left == 0) {
      finished = false;
      break;
    }
    --left;
    reached = sequence;
    ++events;
    bytes += BytesOf(cursor);
  }
  if (!absl::IsDataLoss(cursor.status())) TTL_RETURN_IF_ERROR(cursor.status());
  parts_.log.AddCounted(feed, reached, events, bytes, finished);
  return cursor.status();
}

absl::Status FeedKeeper::PlanDrop(uint64_t feed, size_t& left, std::vector<FeedLog::Drop>& drops) {
  const std::optional<FeedLog::State> state = parts_.log.Find(feed);
  if (!state.has_value() || state->is_empty()) return absl::OkStatus();
  const ContainerPtr container = parts_.catalog.Find(state->container);
  if (container == nullptr || container->feed.number != feed) return absl::OkStatus();
  const FeedSettings& settings = *container->settings.feed;
  const std::optional<absl::Time> now = parts_.log.Moment().judged_at;
  const bool is_old =
      !state->oldest_time.has_value() ||
      (now.has_value() && *state->oldest_time + absl::Seconds(settings.max_age_seconds) <= *now);
  if (!is_old && state->bytes <= settings.max_bytes) return absl::OkStatus();
  const bool is_kept = state->front_sequence > parts_.log.KeptBehind(feed) &&
                       state->bytes <= MaxGatedBytes(settings);
  if (is_kept) return absl::OkStatus();
  FeedLog::Drop drop;
  drop.feed = feed;
  drop.dropped_sequence = state->dropped_sequence;
  const absl::Status read = ReadFront(*state, settings, now, left, drop);
  if (!read.ok() && !absl::IsDataLoss(read)) return read;
  if (drop.dropped_sequence > state->dropped_sequence) {
    left -= drop.events.size();
    drops.push_back(std::move(drop));
  } else if (drop.next_sequence != 0) {
    parts_.log.NoteOldest(feed, drop.next_sequence, drop.next_time);
  }
  return read;
}

absl::Status FeedKeeper::PlanPlaces(uint64_t feed, size_t& left,
                                    std::vector<FeedLog::Placed>& placed) {
  absl::Status trouble;
  for (const FeedLog::Gate& gate : parts_.log.GatesOf(feed)) {
    const Subscription& subscription = gate.subscription;
    Wait& wait = waits_[{feed, subscription.name}];
    const bool is_waiting = wait.create_time == subscription.create_time &&
                            wait.passed == gate.passed() &&
                            parts_.log.ServedSeconds() < wait.until_served_seconds;
    if (is_waiting) continue;
    const auto place = ReadPlace(feed, gate, left, wait);
    trouble.Update(place.status());
    if (!place.ok()) continue;
    const uint64_t reached = std::max(place->given_up, place->passed_over);
    if (reached <= gate.passed()) continue;
    placed.push_back({feed, subscription.name, subscription.create_time, *place});
  }
  return trouble;
}

// What cannot be read may have been an EXPIRED, and was logged before the next event: so the gate
// is given up for it only with a later EXPIRED.
absl::StatusOr<FeedLog::GatePlace> FeedKeeper::ReadPlace(uint64_t feed, const FeedLog::Gate& gate,
                                                         size_t& left, Wait& wait) const {
  const Subscription& subscription = gate.subscription;
  const int64_t served = parts_.log.ServedSeconds();
  FeedLog::GatePlace place = gate.place;
  const std::optional<FeedLog::State> state = parts_.log.Find(feed);
  if (!state.has_value() || state->last_sequence <= gate.passed()) return place;
  wait = {subscription.create_time, gate.passed(), 0};
  bool is_gapless = true;
  auto cursor = parts_.database.WalkPrefix(EventPrefix(feed), EventKey(feed, gate.passed() + 1));
  for (; cursor.Valid() && left > 0; cursor.Next()) {
    --left;
    const uint64_t sequence = DecodeEventSequence(cursor.key()).value_or(0);
    const absl::StatusOr<FeedEvent> event = DecodeEvent(sequence, cursor.value());
    is_gapless = is_gapless && event.ok() && cursor.status().ok();
    if (event.ok() && event->kind == EventKind::kExpired) {
      const int64_t until = GiveUpTime(subscription, *event);
      if (served < until) {
        const uint64_t reached = std::max(place.given_up, place.passed_over);
        wait = {subscription.create_time, std::max(gate.passed(), reached), until};
        break;
      }
      place.given_up = sequence;
      is_gapless = true;
    }
    if (is_gapless) place.passed_over = sequence;
  }
  if (!absl::IsDataLoss(cursor.status())) TTL_RETURN_IF_ERROR(cursor.status());
  return place;
}

// An event that cannot be read is dropped with those before it. A cursor passes over damaged
// blocks; if there is nothing behind them, they are the rest of the log.
absl::Status FeedKeeper::ReadFront(const FeedLog::State& state, const FeedSettings& settings,
                                   std::optional<absl::Time> now, size_t limit,
                                   FeedLog::Drop& drop) const {
  int64_t excess = state.bytes - settings.max_bytes;
  int64_t gated_excess = state.bytes - MaxGatedBytes(settings);
  const uint64_t kept_behind = parts_.log.KeptBehind(drop.feed);
  const absl::Time oldest_kept =
      now.has_value() ? *now - absl::Seconds(settings.max_age_seconds) : absl::InfinitePast();
  auto cursor = parts_.database.WalkPrefix(EventPrefix(drop.feed),
                                           EventKey(drop.feed, state.dropped_sequence + 1));
  for (; cursor.Valid(); cursor.Next()) {
    const uint64_t sequence = DecodeEventSequence(cursor.key()).value_or(0);
    const absl::StatusOr<FeedEvent> event = DecodeEvent(sequence, cursor.value());
    const bool is_over = sequence > kept_behind
                             ? gated_excess > 0
                             : excess > 0 || !event.ok() || event->time <= oldest_kept;
    if (!is_over || drop.events.size() == limit) {
      drop.next_sequence = sequence;
      if (event.ok()) drop.next_time = event->time;
      break;
    }
    const int64_t bytes = BytesOf(cursor);
    excess -= bytes;
    gated_excess -= bytes;
    drop.dropped_sequence = sequence;
    drop.events.emplace_back(sequence, bytes);
  }
  drop.recount = absl::IsDataLoss(cursor.status());
  if (drop.recount && !cursor.Valid()) {
    drop.dropped_sequence = std::max(drop.dropped_sequence, state.last_sequence);
  }
  return cursor.status();
}

absl::Status FeedKeeper::Commit(const Plan& plan) {
  if (plan.is_empty()) return absl::OkStatus();
  // Readers must not be told of what will be refused.
  TTL_RETURN_IF_ERROR(parts_.queue.FloorRefusal(CommitQueue::Kind::kChange));
  std::vector<uint64_t> before;
  size_t bytes = 64 * (plan.placed.size() + plan.raised.size() + 1);
  for (const FeedLog::Drop& drop : plan.drops) {
    const std::optional<FeedLog::State> state = parts_.log.Find(drop.feed);
    before.push_back(state.has_value() ? state->dropped_sequence : 0);
    parts_.log.SetDropped(drop.feed, drop.dropped_sequence);
    bytes += 64 * (1 + drop.events.size());
  }
  auto apply = [this, &plan](Transaction& transaction) {
    Apply(plan, parts_.log, transaction);
    return absl::OkStatus();
  };
  const absl::Status committed = Await<absl::Status>(
      [&](auto done) { parts_.queue.Submit(bytes, std::move(apply), std::move(done)); });
  for (size_t i = 0; !committed.ok() && i < plan.drops.size(); ++i) {
    parts_.log.TakeBackDropped(plan.drops[i].feed, before[i]);
  }
  if (!committed.ok()) return committed;
  raised_.clear();
  stored_served_seconds_ = plan.served_seconds.value_or(stored_served_seconds_);
  return committed;
}

void FeedKeeper::Apply(const Plan& plan, const FeedLog& log, Transaction& transaction) {
  FeedChanges& feed = transaction.feed();
  for (const auto& [number, name] : plan.raised) {
    const std::optional<Subscription> gate = feed.FindSubscription(number, name);
    if (gate.has_value()) feed.PutSubscription(number, *gate);
  }
  for (const FeedLog::Placed& placed : plan.placed) feed.Place(placed);
  for (const FeedLog::Drop& drop : plan.drops) {
    // One that was switched off meanwhile is purged.
    const std::optional<FeedLog::State> state = log.Find(drop.feed);
    const ContainerPtr present =
        state.has_value() ? transaction.FindContainer(state->container) : nullptr;
    const bool is_on = present != nullptr && present->feed.number == drop.feed;
    if (is_on) feed.AddDrop(drop);
  }
  if (plan.served_seconds.has_value()) {
    transaction.Put(MetaKey(kServedSecondsFact), absl::StrCat(*plan.served_seconds));
  }
}

}  // namespace ttl
