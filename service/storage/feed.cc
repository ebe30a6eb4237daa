#include "service/storage/feed.h"

#include <algorithm>
#include <memory>
#include <queue>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/delete_gate.h"
#include "service/storage/engine/database.h"
#include "service/storage/feed/event_writer.h"
#include "service/storage/feed/feed_log.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/holds/hold_table.h"

// A page merges the logs of several feeds by sequence. It ends at the last published sequence as it
// was when reading began: an event with a smaller sequence that is committed later does not exist,
// so a reader that goes on behind `reached` misses none.
//
// Housekeeping drops events from the front meanwhile. It first says so in the FeedLog, and only
// then erases them. So a reader that looks into the FeedLog after its cursors were opened, each of
// which sees the database as it was then, knows whether they can have missed what was dropped.
//
// A gate is created as a hold is placed: published first, and then the passes of the delete gate
// that are out are awaited. The sweep asks what the gates let pass after it has entered the delete
// gate.
//
// A cursor passes over a damaged block as if it were empty, and has an error from then on. So what
// lies between the events on both sides of it is given as one RESYNC, and the page ends there: the
// next one opens other cursors. The seek of a cursor may touch a damaged block that is before its
// start, which may give a RESYNC for nothing; not behind an end that was already damaged at the
// start, because all that is written since would be read with one.
namespace ttl {
namespace {

constexpr size_t kFeedChangeBytes = 512;  // about what a change holds in memory

absl::Status NoContainer(absl::string_view id) {
  return MakeError(Reason::kContainerNotFound,
                   absl::StrCat("container: there is no container \"", id, "\""),
                   {{"container", std::string(id)}});
}

absl::Status FeedIsOff(absl::string_view id) {
  return MakeError(Reason::kFeedOff,
                   absl::StrCat("container \"", id, "\" has no feed: set its feed"),
                   {{"container", std::string(id)}});
}

absl::Status NoSubscription(absl::string_view container_id, absl::string_view name) {
  return MakeError(
      Reason::kSubscriptionNotFound,
      absl::StrCat("container \"", container_id, "\" has no subscription \"", name, "\""),
      {{"container", std::string(container_id)}, {"subscription", std::string(name)}});
}

// The container, which has a feed.
absl::StatusOr<ContainerPtr> FindWithFeed(const Transaction& transaction, absl::string_view id) {
  ContainerPtr container = transaction.FindContainer(id);
  if (container == nullptr) return NoContainer(id);
  if (!container->feed.is_on()) return FeedIsOff(id);
  return container;
}

SubscriptionView ViewOf(const FeedLog& log, uint64_t feed, const FeedLog::State& state,
                        Subscription subscription) {
  SubscriptionView view;
  const uint64_t given_up = log.PlaceOf(feed, subscription.name).given_up;
  if (given_up > subscription.acknowledged_sequence) view.given_up_sequence = given_up;
  view.container_id = state.container_id;
  view.last_sequence = state.last_sequence;
  view.has_lost_events = state.dropped_sequence > subscription.acknowledged_sequence;
  view.subscription = std::move(subscription);
  return view;
}

absl::Status CheckNotDropped(const ContainerPtr& container, const FeedLog::State& state,
                             uint64_t after) {
  if (state.dropped_sequence <= after) return absl::OkStatus();
  return MakeError(Reason::kEventsDropped,
                   absl::StrCat("container \"", container->id, "\": its events up to sequence ",
                                state.dropped_sequence, " were dropped, but those after ", after,
                                " are asked for: begin without a token, and then compare with the "
                                "store"),
                   {{"container", container->id}});
}

absl::Status BeyondTheEnd(uint64_t after, uint64_t last) {
  return MakeError(
      Reason::kLogReplaced,
      absl::StrCat("events behind sequence ", after, " are asked for, but the last is ", last,
                   ": this is another log; begin without a token, and then "
                   "compare with the store"));
}

// The part of one feed that a page reads.
struct Source {
  ContainerPtr container;
  Database::Cursor cursor;
  uint64_t passed = 0;            // no event up to this sequence is wanted any more
  uint64_t last_sequence = 0;     // of the feed
  bool is_behind_damage = false;  // of the end of the log as it was at a start
  uint64_t damaged_to = 0;  // if not 0, events up to here, before that of the cursor, are damaged

  uint64_t sequence() const { return DecodeEventSequence(cursor.key()).value_or(0); }
};

// The sources of a query that have events behind `query.after`.
absl::StatusOr<std::vector<Source>> OpenSources(const Database& database, const FeedLog& log,
                                                const FeedQuery& query) {
  std::vector<Source> sources;
  for (const ContainerPtr& container : query.containers) {
    const uint64_t feed = container->feed.number;
    const std::optional<FeedLog::State> state = log.Find(feed);
    if (!state.has_value()) return FeedIsOff(container->id);
    if (state->last_sequence <= query.after) continue;
    sources.push_back({container,
                       database.ReadPrefix(EventPrefix(feed), EventKey(feed, query.after + 1)),
                       query.after, state->last_sequence,
                       state->damaged_end > 0 && query.after >= state->damaged_end});
  }
  for (const ContainerPtr& container : query.containers) {
    const std::optional<FeedLog::State> state = log.Find(container->feed.number);
    if (!state.has_value()) return FeedIsOff(container->id);
    TTL_RETURN_IF_ERROR(CheckNotDropped(container, *state, query.after));
  }
  return sources;
}

// Reads the events of `sources` up to `end` in the order of their sequences.
class Merge {
 public:
  Merge(std::vector<Source>& sources, uint64_t end) : sources_(sources), end_(end) {
    for (size_t i = 0; i < sources_.size(); ++i) Add(i);
  }

  // The source of the next event; null at the end, or after an error.
  Source* Next() {
    const bool is_end = order_.empty() || order_.top().first > end_;
    return is_end ? nullptr : &sources_[order_.top().second];
  }
  void Pass() {
    const auto [sequence, passed] = order_.top();
    order_.pop();
    sources_[passed].passed = sequence;
    sources_[passed].cursor.Next();
    Add(passed);
  }
  const absl::Status& status() const { return status_; }

 private:
  using Place = std::pair<uint64_t, size_t>;  // sequence, source

  void Add(size_t i) {
    Source& source = sources_[i];
    const absl::Status status = source.cursor.status();
    const bool is_valid = source.cursor.Valid();
    if (absl::IsDataLoss(status) && !source.is_behind_damage) {
      const uint64_t to = is_valid ? source.sequence() - 1 : source.last_sequence;
      source.damaged_to = std::min(to, end_);
    }
    if (source.damaged_to > source.passed) {
      order_.emplace(source.damaged_to, i);
    } else if (is_valid) {
      order_.emplace(source.sequence(), i);
    } else if (!absl::IsDataLoss(status)) {
      status_.Update(status);
    }
  }

  std::vector<Source>& sources_;
  const uint64_t end_;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> order_;
  absl::Status status_;
};

FeedEvent Missing(uint64_t sequence) {
  FeedEvent missing;
  missing.kind = EventKind::kResync;
  missing.sequence = sequence;
  return missing;
}

// The event of a source; one that cannot be read is missing.
FeedEvent ReadEvent(FeedLog& log, const Source& source) {
  absl::StatusOr<FeedEvent> event = DecodeEvent(source.sequence(), source.cursor.value());
  if (event.ok()) return *std::move(event);
  log.NoteMissing(source.container->feed.number, source.sequence());
  return Missing(source.sequence());
}

bool IsAskedFor(const FeedQuery& query, EventKind kind) {
  // Whoever asks for any kind must know that events of it may be missing.
  return query.kinds.empty() || kind == EventKind::kResync ||
         std::find(query.kinds.begin(), query.kinds.end(), kind) != query.kinds.end();
}

using LogOne = bool (*)(FeedChanges& changes, const Container& container, const ItemKey& key,
                        StoredItem& item, bool late);

bool LogRevivedOne(FeedChanges& changes, const Container& container, const ItemKey& key,
                   StoredItem& item, bool /*late*/) {
  return LogRevived(changes, container, key, item);
}

// Sets a due item aside unless the gates let it pass; announces it first where `gates` asks for
// that. Returns whether it did.
bool SetAsideOne(Transaction& transaction, const Container& container, const GateView& gates,
                 const GatedItem& gated, const StoredItemPtr& before) {
  if (before->position.family == IndexFamily::kHeld) return false;
  if (gates.LetsPass(before->expired_sequence)) return false;
  StoredItem after = *before;
  const bool is_readable = container.feed.IsAnnounced(before->expired_sequence) &&
                           before->expired_sequence > gates.again_up_to;
  if (!is_readable &&
      !LogExpiredAgain(transaction.feed(), container, gated.key, after, gated.late)) {
    return false;
  }
  after.position = GatedPosition(container.index_number, after.expired_sequence);
  if (after.position == before->position) return false;
  transaction.PutItem(container, gated.key, before, std::move(after));
  return true;
}

// Announces each item that is unchanged. One that cannot be read is passed over.
absl::Status LogEach(Transaction& transaction, uint64_t number,
                     const std::vector<AnnouncedItem>& items, LogOne tell, int64_t& announced) {
  const ContainerPtr container = transaction.FindContainer(number);
  if (container == nullptr || !container->feed.is_on()) return absl::OkStatus();
  for (const AnnouncedItem& item : items) {
    const absl::StatusOr<StoredItemPtr> before = transaction.GetItem(number, item.key);
    if (absl::IsDataLoss(before.status())) continue;
    TTL_RETURN_IF_ERROR(before.status());
    if (*before == nullptr || (*before)->generation != item.generation) continue;
    StoredItem after = **before;
    if (!tell(transaction.feed(), *container, item.key, after, item.late)) continue;
    // If it was set aside, that was under another EXPIRED.
    LeaveGates(container->index_number, after);
    transaction.PutItem(*container, item.key, *before, std::move(after));
    ++announced;
  }
  return absl::OkStatus();
}

void SubmitLogging(CommitQueue& queue, uint64_t container, std::vector<AnnouncedItem> items,
                   LogOne tell, Done<int64_t> done) {
  auto announced = std::make_shared<int64_t>(0);
  const size_t bytes = items.size() * sizeof(AnnouncedItem);
  auto apply = [container, items = std::move(items), tell, announced](Transaction& transaction) {
    return LogEach(transaction, container, items, tell, *announced);
  };
  queue.Submit(bytes, std::move(apply),
               [announced, done = std::move(done)](absl::Status status) mutable {
                 if (!status.ok()) return done(std::move(status));
                 done(*announced);
               });
}

// A gate reads everything that is kept, and has read nothing of what is not. What is being dropped
// now counts as dropped.
void BeginAtFront(Transaction& transaction, const FeedLog& log, const Container& container,
                  Subscription& gate) {
  const std::optional<FeedLog::State> state = log.Find(container.feed.number);
  gate.gate_sequence = container.feed.first_sequence;
  if (state.has_value()) {
    gate.gate_sequence = std::max(gate.gate_sequence, state->dropped_sequence);
  }
  gate.acknowledged_sequence = gate.gate_sequence;
  gate.served_seconds = log.ServedSeconds() + 1;
  transaction.RaiseDataFormat(kGateDataFormat);
  if (gate.give_up_after_seconds == 0) return;
  // Before any event has a larger one.
  transaction.Put(MetaKey(kServedSecondsFact), absl::StrCat(log.ServedSeconds()));
}

// Notes in the container whether it has gates now, for those who watch containers.
void NoteGates(Transaction& transaction, const Container& container) {
  const bool has_gates = transaction.feed().HasGates(container.feed.number);
  if (container.feed.has_gates == has_gates) return;
  Container noted = container;
  noted.feed.has_gates = has_gates;
  transaction.PutContainer(std::move(noted));
}

absl::Status CheckNew(Transaction& transaction, const Container& container,
                      const Subscription& subscription) {
  FeedChanges& feed = transaction.feed();
  if (feed.FindSubscription(container.feed.number, subscription.name).has_value()) {
    return MakeError(Reason::kSubscriptionExists,
                     absl::StrCat("container \"", container.id, "\" has a subscription \"",
                                  subscription.name, "\" already"),
                     {{"container", container.id}, {"subscription", subscription.name}});
  }
  if (feed.CountSubscriptions(0) < static_cast<int64_t>(kMaxSubscriptions)) return absl::OkStatus();
  return MakeError(Reason::kTooManySubscriptions,
                   absl::StrCat("there are ", kMaxSubscriptions,
                                " subscriptions, which is the most: delete some"),
                   {{"limit", absl::StrCat(kMaxSubscriptions)}});
}

}  // namespace

void Feed::SetClock(FeedClock clock) { parts_.log.SetClock(std::move(clock)); }

void Feed::Announce(uint64_t container, std::vector<AnnouncedItem> items, Done<int64_t> done) {
  SubmitLogging(parts_.queue, container, std::move(items), LogExpired, std::move(done));
}

void Feed::AnnounceExpiring(uint64_t container, std::vector<AnnouncedItem> items,
                            Done<int64_t> done) {
  SubmitLogging(parts_.queue, container, std::move(items), LogExpiring, std::move(done));
}

void Feed::Revive(uint64_t container, std::vector<AnnouncedItem> items, Done<int64_t> done) {
  SubmitLogging(parts_.queue, container, std::move(items), LogRevivedOne, std::move(done));
}

void Feed::SetAside(uint64_t container, std::vector<GatedItem> items, Done<int64_t> done) {
  auto moved = std::make_shared<int64_t>(0);
  const size_t bytes = items.size() * sizeof(GatedItem);
  auto set_aside = [this, container, items = std::move(items),
                    moved](Transaction& transaction) -> absl::Status {
    const ContainerPtr present = transaction.FindContainer(container);
    if (present == nullptr || !present->feed.is_on() || present->index_number == 0) {
      return absl::OkStatus();
    }
    const GateView gates = parts_.log.Gates(present->feed.number);
    for (const GatedItem& item : items) {
      TTL_ASSIGN_OR_RETURN(const StoredItemPtr before, transaction.GetItem(container, item.key));
      if (before == nullptr || before->generation != item.generation) continue;
      if (SetAsideOne(transaction, *present, gates, item, before)) ++*moved;
    }
    return absl::OkStatus();
  };
  parts_.queue.Submit(bytes, std::move(set_aside),
                      [moved, done = std::move(done)](absl::Status status) mutable {
                        if (!status.ok()) return done(std::move(status));
                        done(*moved);
                      });
}

void Feed::NoteRevived(uint64_t container, uint64_t policy_revision, DoneStatus done) {
  auto note = [container, policy_revision](Transaction& transaction) {
    const ContainerPtr present = transaction.FindContainer(container);
    if (present == nullptr || !present->feed.is_on() ||
        present->feed.revived_revision >= policy_revision) {
      return absl::OkStatus();
    }
    Container noted = *present;
    noted.feed.revived_revision = policy_revision;
    transaction.PutContainer(std::move(noted));
    return absl::OkStatus();
  };
  parts_.queue.Submit(kFeedChangeBytes, std::move(note), std::move(done));
}

void Feed::Resync(uint64_t container, DoneStatus done) {
  auto resync = [container](Transaction& transaction) {
    const std::vector<ContainerPtr> containers =
        container == 0 ? transaction.AllContainers()
                       : std::vector<ContainerPtr>{transaction.FindContainer(container)};
    for (const ContainerPtr& present : containers) {
      if (present != nullptr && present->feed.is_on()) LogResync(transaction.feed(), *present);
    }
    return absl::OkStatus();
  };
  parts_.queue.Submit(kFeedChangeBytes, std::move(resync), std::move(done));
}

void Feed::Subscribe(std::string container_id, Subscription subscription, absl::Time now,
                     Done<SubscriptionView> done) {
  auto created = std::make_shared<Subscription>(std::move(subscription));
  auto of_container = std::make_shared<uint64_t>(0);
  auto subscribe = [this, container_id, created, of_container,
                    now](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(const ContainerPtr container, FindWithFeed(transaction, container_id));
    TTL_RETURN_IF_ERROR(CheckNew(transaction, *container, *created));
    created->create_time = now;
    created->acknowledged_sequence = transaction.feed().LastSequence();
    if (created->gate) BeginAtFront(transaction, parts_.log, *container, *created);
    transaction.feed().PutSubscription(container->feed.number, *created);
    NoteGates(transaction, *container);
    *of_container = container->number;
    return absl::OkStatus();
  };
  parts_.queue.Submit(kFeedChangeBytes, std::move(subscribe),
                      [this, container_id = std::move(container_id), created, of_container,
                       done = std::move(done)](absl::Status status) mutable {
                        if (!status.ok()) return done(std::move(status));
                        auto answer = [this, container_id = std::move(container_id), created,
                                       done = std::move(done)]() mutable {
                          AnswerSubscribed(container_id, created->name, std::move(done));
                        };
                        if (!created->gate) return answer();
                        parts_.gate.AwaitPresent(*of_container, std::move(answer));
                      });
}

void Feed::AnswerSubscribed(const std::string& container_id, const std::string& name,
                            Done<SubscriptionView> done) const {
  std::optional<SubscriptionView> view = Find(container_id, name);
  if (!view.has_value()) return done(NoSubscription(container_id, name));
  done(*std::move(view));
}

void Feed::Unsubscribe(std::string container_id, std::string name, DoneStatus done) {
  auto unsubscribe = [container_id = std::move(container_id),
                      name = std::move(name)](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(const ContainerPtr container, FindWithFeed(transaction, container_id));
    const uint64_t feed = container->feed.number;
    if (!transaction.feed().FindSubscription(feed, name).has_value()) {
      return NoSubscription(container_id, name);
    }
    transaction.feed().EraseSubscription(feed, name);
    NoteGates(transaction, *container);
    return absl::OkStatus();
  };
  parts_.queue.Submit(kFeedChangeBytes, std::move(unsubscribe), std::move(done));
}

void Feed::Acknowledge(std::string container_id, std::string name, uint64_t epoch,
                       uint64_t sequence, Done<uint64_t> done) {
  auto acknowledged = std::make_shared<uint64_t>(0);
  auto acknowledge = [this, container_id = std::move(container_id), name = std::move(name), epoch,
                      sequence, acknowledged](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(const ContainerPtr container, FindWithFeed(transaction, container_id));
    const uint64_t feed = container->feed.number;
    std::optional<Subscription> subscription = transaction.feed().FindSubscription(feed, name);
    if (!subscription.has_value()) return NoSubscription(container_id, name);
    if (epoch != EpochOf(*container)) {
      return MakeError(Reason::kLogReplaced,
                       absl::StrCat("epoch: ", epoch, " is not that of the log of container \"",
                                    container_id, "\": compare with the store"),
                       {{"container", container_id}});
    }
    if (sequence > LastSequence()) {
      return MakeError(Reason::kSequenceNotSent,
                       absl::StrCat("sequence: ", sequence, " is beyond the last event, which is ",
                                    LastSequence()),
                       {{"sent", absl::StrCat(LastSequence())}});
    }
    *acknowledged = std::max(subscription->acknowledged_sequence, sequence);
    if (*acknowledged == subscription->acknowledged_sequence) return absl::OkStatus();
    subscription->acknowledged_sequence = *acknowledged;
    transaction.feed().PutSubscription(feed, *subscription);
    return absl::OkStatus();
  };
  parts_.queue.Submit(kFeedChangeBytes, std::move(acknowledge),
                      [acknowledged, done = std::move(done)](absl::Status status) mutable {
                        if (!status.ok()) return done(std::move(status));
                        done(*acknowledged);
                      });
}

std::optional<SubscriptionView> Feed::Find(absl::string_view container_id,
                                           absl::string_view name) const {
  const ContainerPtr container = parts_.catalog.Find(container_id);
  if (container == nullptr || !container->feed.is_on()) return std::nullopt;
  const std::optional<FeedLog::State> state = parts_.log.Find(container->feed.number);
  std::optional<Subscription> found = parts_.log.FindSubscription(container->feed.number, name);
  if (!state.has_value() || !found.has_value()) return std::nullopt;
  return ViewOf(parts_.log, container->feed.number, *state, *std::move(found));
}

std::vector<SubscriptionView> Feed::List(absl::string_view container_id,
                                         absl::string_view after_container,
                                         absl::string_view after_name, size_t limit) const {
  uint64_t feed = 0;
  if (!container_id.empty()) {
    const ContainerPtr container = parts_.catalog.Find(container_id);
    if (container == nullptr || !container->feed.is_on()) return {};
    feed = container->feed.number;
  }
  std::vector<SubscriptionView> views;
  for (auto& [number, subscription] :
       parts_.log.ListSubscriptions(feed, after_container, after_name, limit)) {
    const std::optional<FeedLog::State> state = parts_.log.Find(number);
    if (!state.has_value()) continue;
    views.push_back(ViewOf(parts_.log, number, *state, std::move(subscription)));
  }
  return views;
}

uint64_t Feed::EpochOf(const Container& container) const {
  return parts_.holds.Epoch() ^ container.feed.epoch;
}

uint64_t Feed::LastSequence() const { return parts_.log.LastPublished(); }

absl::StatusOr<FeedPage> Feed::Read(const FeedQuery& query) const {
  FeedPage page;
  page.reached = LastSequence();
  if (query.after > page.reached) return BeyondTheEnd(query.after, page.reached);
  TTL_ASSIGN_OR_RETURN(std::vector<Source> sources,
                       OpenSources(parts_.database, parts_.log, query));
  Merge merge(sources, page.reached);
  size_t bytes = 0;
  size_t examined = 0;
  uint64_t passed = query.after;
  for (const Source* source = merge.Next(); source != nullptr; source = merge.Next()) {
    if (page.entries.size() == query.max_events || bytes >= query.max_bytes ||
        examined == query.max_examined) {
      page.reached = passed;
      page.more = true;
      return page;
    }
    if (source->damaged_to > source->passed) {
      parts_.log.NoteMissing(source->container->feed.number, source->damaged_to);
      page.entries.push_back({source->container, Missing(source->damaged_to)});
      page.reached = source->damaged_to;
      page.more = true;
      return page;
    }
    FeedEvent event = ReadEvent(parts_.log, *source);
    ++examined;
    passed = event.sequence;
    if (IsAskedFor(query, event.kind)) {
      bytes += source->cursor.key().size() + source->cursor.value().size();
      page.entries.push_back({source->container, std::move(event)});
    }
    merge.Pass();
    TTL_RETURN_IF_ERROR(merge.status());
  }
  TTL_RETURN_IF_ERROR(merge.status());
  return page;
}

absl::StatusOr<EventsBehind> Feed::CountBehind(const Container& container, uint64_t after,
                                               size_t limit) const {
  EventsBehind behind;
  const uint64_t feed = container.feed.number;
  const std::optional<FeedLog::State> state = parts_.log.Find(feed);
  if (!state.has_value()) return FeedIsOff(container.id);
  const uint64_t from = std::max(after, state->dropped_sequence);
  if (state->last_sequence <= from) return behind;
  auto cursor = parts_.database.ReadPrefix(EventPrefix(feed), EventKey(feed, from + 1));
  for (; cursor.Valid(); cursor.Next()) {
    if (behind.count == static_cast<int64_t>(limit)) {
      behind.is_lower_bound = true;
      break;
    }
    if (behind.count++ > 0) continue;
    const absl::StatusOr<FeedEvent> first = DecodeEvent(0, cursor.value());
    if (first.ok()) behind.oldest_time = first->time;
  }
  if (!absl::IsDataLoss(cursor.status())) TTL_RETURN_IF_ERROR(cursor.status());
  behind.is_lower_bound = behind.is_lower_bound || !cursor.status().ok();
  return behind;
}

FeedFigures Feed::Figures(const Container& container) const {
  FeedFigures figures;
  const std::optional<FeedLog::State> state = parts_.log.Find(container.feed.number);
  if (!state.has_value()) return figures;
  figures.events = state->events;
  figures.bytes = state->bytes;
  figures.is_lower_bound = state->counted_to.has_value();
  if (!state->is_empty()) figures.oldest_time = state->oldest_time;
  figures.last_sequence = state->last_sequence;
  figures.dropped_sequence = state->dropped_sequence;
  figures.announced_items = parts_.tallies.Announced(container.number);
  figures.gated_items = parts_.tallies.Gated(container.number);
  figures.is_full = Gates(container).is_full;
  figures.announced_items_counted = !parts_.tallies.WalkPosition(container.number).has_value();
  return figures;
}

GateView Feed::Gates(const Container& container) const {
  return container.feed.is_on() ? parts_.log.Gates(container.feed.number) : GateView();
}

std::vector<std::string> Feed::WaitingFor(const Container& container,
                                          uint64_t expired_sequence) const {
  std::vector<std::string> names;
  for (const FeedLog::Gate& gate : parts_.log.GatesOf(container.feed.number)) {
    const bool passes =
        expired_sequence > gate.subscription.gate_sequence && expired_sequence <= gate.passed();
    if (!passes) names.push_back(gate.subscription.name);
  }
  return names;
}

bool Feed::HasWaiting(const Container& container) const {
  const GateView gates = Gates(container);
  if (!gates.has_gates) return false;
  if (gates.is_full) return true;
  const std::optional<FeedLog::State> state = parts_.log.Find(container.feed.number);
  return state.has_value() && gates.passed < state->last_sequence &&
         parts_.tallies.Gated(container.number) > 0;
}

std::vector<std::string> Feed::GatesThatWait(const Container& container) const {
  std::vector<std::string> names;
  if (!HasWaiting(container)) return names;
  const uint64_t passed = Gates(container).passed;
  for (const FeedLog::Gate& gate : parts_.log.GatesOf(container.feed.number)) {
    if (gate.passed() <= passed) names.push_back(gate.subscription.name);
  }
  return names;
}

void Feed::AddListener(WakeSignal& signal) { parts_.log.AddListener(signal); }
void Feed::RemoveListener(WakeSignal& signal) { parts_.log.RemoveListener(signal); }

}  // namespace ttl
