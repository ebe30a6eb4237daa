#include "service/storage/upkeep/feed_keeper.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "service/base/done.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/key_codec.h"

// Events are dropped from the front only, so what is erased is always before the first event kept,
// and a seek that begins behind the last one dropped passes none of it. The time of the first event
// kept is remembered, so that a feed within its bounds costs no read.
namespace ttl {
namespace {

// Treated in one step: few enough not to be felt by the writes between.
constexpr size_t kFeedsPerStep = 500;
constexpr size_t kEventsDroppedPerStep = 1000;
constexpr size_t kEventsCountedPerStep = 5000;

int64_t BytesOf(const Database::Cursor& event) {
  return static_cast<int64_t>(event.key().size() + event.value().size());
}

}  // namespace

absl::StatusOr<bool> FeedKeeper::RunOnce() {
  const std::vector<uint64_t> feeds = parts_.log.Feeds(next_, kFeedsPerStep);
  next_ = feeds.size() == kFeedsPerStep ? feeds.back() + 1 : 0;
  Budget left = {kEventsDroppedPerStep, kEventsCountedPerStep};
  std::vector<FeedLog::Drop> drops;
  absl::Status trouble;
  for (const uint64_t feed : feeds) {
    if (left.is_used_up()) {
      next_ = feed;
      break;
    }
    trouble.Update(CountSome(feed, left.events_to_count));
    trouble.Update(PlanDrop(feed, left.events_to_drop, drops));
  }
  trouble.Update(Commit(drops));
  more_ = more_ || left.is_used_up();
  TTL_RETURN_IF_ERROR(trouble);
  return next_ != 0 || std::exchange(more_, false);
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
  FeedLog::Drop drop;
  drop.feed = feed;
  drop.dropped_sequence = state->dropped_sequence;
  const absl::Status read = ReadFront(*state, settings, now, left, drop);
  if (!read.ok() && !absl::IsDataLoss(read)) return read;
  if (drop.dropped_sequence > state->dropped_sequence) {
    left -= drop.events.size();
    drops.push_back(std::move(drop));
  } else if (drop.next_time.has_value()) {
    parts_.log.NoteOldest(feed, *drop.next_time);
  }
  return read;
}

// An event that cannot be read is dropped with those before it. A cursor passes over damaged
// blocks; if there is nothing behind them, they are the rest of the log.
absl::Status FeedKeeper::ReadFront(const FeedLog::State& state, const FeedSettings& settings,
                                   std::optional<absl::Time> now, size_t limit,
                                   FeedLog::Drop& drop) const {
  int64_t excess = state.bytes - settings.max_bytes;
  const absl::Time oldest_kept =
      now.has_value() ? *now - absl::Seconds(settings.max_age_seconds) : absl::InfinitePast();
  auto cursor = parts_.database.WalkPrefix(EventPrefix(drop.feed),
                                           EventKey(drop.feed, state.dropped_sequence + 1));
  for (; cursor.Valid(); cursor.Next()) {
    const uint64_t sequence = DecodeEventSequence(cursor.key()).value_or(0);
    const absl::StatusOr<FeedEvent> event = DecodeEvent(sequence, cursor.value());
    const bool is_over = excess > 0 || !event.ok() || event->time <= oldest_kept;
    if (!is_over || drop.events.size() == limit) {
      if (event.ok()) drop.next_time = event->time;
      break;
    }
    const int64_t bytes = BytesOf(cursor);
    excess -= bytes;
    drop.dropped_sequence = sequence;
    drop.events.emplace_back(sequence, bytes);
  }
  drop.recount = absl::IsDataLoss(cursor.status());
  if (drop.recount && !cursor.Valid()) {
    drop.dropped_sequence = std::max(drop.dropped_sequence, state.last_sequence);
  }
  return cursor.status();
}

absl::Status FeedKeeper::Commit(const std::vector<FeedLog::Drop>& drops) {
  if (drops.empty()) return absl::OkStatus();
  // Readers must not be told of what will be refused.
  TTL_RETURN_IF_ERROR(parts_.queue.FloorRefusal(CommitQueue::Kind::kChange));
  std::vector<uint64_t> before;
  size_t bytes = 0;
  for (const FeedLog::Drop& drop : drops) {
    const std::optional<FeedLog::State> state = parts_.log.Find(drop.feed);
    before.push_back(state.has_value() ? state->dropped_sequence : 0);
    parts_.log.SetDropped(drop.feed, drop.dropped_sequence);
    bytes += 64 * (1 + drop.events.size());
  }
  auto apply = [this, &drops](Transaction& transaction) {
    for (const FeedLog::Drop& drop : drops) {
      // One that was switched off meanwhile is purged.
      const std::optional<FeedLog::State> state = parts_.log.Find(drop.feed);
      const ContainerPtr present =
          state.has_value() ? transaction.FindContainer(state->container) : nullptr;
      const bool is_on = present != nullptr && present->feed.number == drop.feed;
      if (is_on) transaction.feed().AddDrop(drop);
    }
    return absl::OkStatus();
  };
  const absl::Status dropped = Await<absl::Status>(
      [&](auto done) { parts_.queue.Submit(bytes, std::move(apply), std::move(done)); });
  for (size_t i = 0; !dropped.ok() && i < drops.size(); ++i) {
    parts_.log.TakeBackDropped(drops[i].feed, before[i]);
  }
  return dropped;
}

}  // namespace ttl
