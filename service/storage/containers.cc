#include "service/storage/containers.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/core/adoption.h"
#include "service/core/due_rules.h"
#include "service/core/policy_effect.h"
#include "service/core/windows/delete_windows.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/delete_gate.h"
#include "service/storage/feed/event_writer.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/format/sidecar_facts.h"
#include "service/storage/holds/hold_table.h"

namespace ttl {
namespace {

constexpr size_t kChangeBytes = 512;  // about what a change holds in memory

absl::Status NoSuchContainer(absl::string_view id) {
  return MakeError(Reason::kContainerNotFound,
                   absl::StrCat("container: there is no container \"", id, "\""),
                   {{"container", std::string(id)}});
}

// The container that `present` still is in `transaction`.
absl::StatusOr<Container> FindAgain(const Transaction& transaction, const Container& present) {
  const ContainerPtr current = transaction.FindContainer(present.number);
  if (current == nullptr) return NoSuchContainer(present.id);
  return *current;
}

void PurgeIndex(uint64_t index, Transaction& transaction) {
  if (index != 0) transaction.Put(PurgeKey(index), EncodePurge(PurgeKind::kIndex));
}

// Gives the container the index that its mode asks for.
absl::Status FitIndex(Transaction& transaction, Container& container) {
  const bool wants_index = container.settings.indexing_mode != IndexingMode::kNone;
  if (wants_index && container.index_number == 0) {
    TTL_ASSIGN_OR_RETURN(container.index_number, transaction.NewNumber());
    container.index_build.emplace();
  } else if (!wants_index && container.index_number != 0) {
    PurgeIndex(container.index_number, transaction);
    container.index_number = 0;
    container.index_build.reset();
  }
  return absl::OkStatus();
}

void PurgeFeed(uint64_t feed, Transaction& transaction) {
  if (feed != 0) transaction.Put(PurgeKey(feed), EncodePurge(PurgeKind::kFeed));
}

// Unlike that of any log with the same numbers, which may be one of data that was lost.
uint64_t NewFeedEpoch() {
  std::random_device random;
  std::uniform_int_distribution<uint64_t> numbers(1);
  return numbers(random);
}

// Switches the feed of the container on or off as its settings ask; or, if it stays on, logs the
// change of its default_ttl, which was `old_default_ttl` before. The revision is that after the
// change.
absl::Status FitFeed(Transaction& transaction, Container& container,
                     std::optional<int64_t> old_default_ttl, absl::Time now) {
  FeedState& feed = container.feed;
  if (!container.settings.feed.has_value()) {
    PurgeFeed(feed.number, transaction);
    feed = FeedState();
    return absl::OkStatus();
  }
  if (!feed.is_on()) {
    TTL_ASSIGN_OR_RETURN(feed.number, transaction.NewNumber());
    feed.epoch = NewFeedEpoch();
    feed.first_sequence = transaction.feed().LastSequence();
    feed.policy_time = absl::ToUnixSeconds(now);
    feed.policy_revision = feed.revived_revision = container.revision;
    transaction.RaiseDataFormat(kFeedDataFormat);
    return absl::OkStatus();
  }
  if (container.settings.policy.default_ttl == old_default_ttl) return absl::OkStatus();
  feed.policy_time = absl::ToUnixSeconds(now);
  feed.policy_revision = container.revision;
  LogPolicyChange(transaction.feed(), container, old_default_ttl);
  return absl::OkStatus();
}

int64_t SubscriptionsOf(Transaction& transaction, const Container& container) {
  return container.feed.is_on() ? transaction.feed().CountSubscriptions(container.feed.number) : 0;
}

absl::Status CheckEtag(const Container& container, const std::string& etag) {
  const std::string current = ContainerEtag(container);
  if (etag.empty() || etag == current) return absl::OkStatus();
  return MakeError(Reason::kEtagMismatch,
                   absl::StrCat("etag: container \"", container.id, "\" has \"", current,
                                "\", not \"", etag, "\": read it again"),
                   {{"container", container.id}, {"etag", current}});
}

int64_t StandingHolds(const Transaction& transaction, const Container& container) {
  return transaction.holds().CountStanding(container.number);
}

// An older program would delete what must be held, or was touched, or outside of windows.
void NoteDataFormat(Transaction& transaction, const ContainerSettings& settings) {
  if (settings.show_held || settings.requires_holds) transaction.RaiseDataFormat(kHoldsDataFormat);
  if (settings.windows.has_value()) transaction.RaiseDataFormat(kWindowsDataFormat);
  if (settings.allow_touch) transaction.RaiseDataFormat(kTouchDataFormat);
}

// The replaced policies that hold deletes back after `container` gets `settings`.
std::vector<ReplacedPolicy> HoldsAfter(const Container& container,
                                       const ContainerSettings& settings, const Tallies& tallies,
                                       absl::Time now, absl::Duration grace) {
  const Policy& present = container.settings.policy;
  absl::Duration hold = grace;
  std::optional<int64_t> braked_items;
  if (settings.brake.has_value()) {
    const TallyView tally = tallies.View(container.number);
    const int64_t newly_due =
        ComputePolicyEffect(tally, present, settings.policy, now).newly_due_at_most;
    if (PullsBrake(*settings.brake, newly_due, tally.tracked.items)) {
      hold = std::max(grace, absl::Seconds(settings.brake->release_after_seconds));
      braked_items = newly_due;
    }
  }
  return ReplacePolicy(container.replaced_policies, present, settings.policy, now, hold,
                       braked_items);
}

// A callback that answers with the container that `result` points to by then.
DoneStatus AnswerWith(std::shared_ptr<ContainerPtr> result, Done<ContainerPtr> done) {
  return [result, done = std::move(done)](absl::Status status) mutable {
    if (status.ok()) {
      done(*result);
    } else {
      done(status);
    }
  };
}

}  // namespace

absl::Status ValidateChange(const ContainerSettings& present, const ContainerSettings& next) {
  TTL_RETURN_IF_ERROR(ValidateSettings(next));
  // The zone of windows that stay need not be there: another change must not wait for it.
  if (!next.windows.has_value() || next.windows == present.windows) return absl::OkStatus();
  return CheckTimeZone(*next.windows);
}

bool TakesIndexAway(const ContainerSettings& present, const ContainerSettings& next) {
  return present.indexing_mode != IndexingMode::kNone && next.indexing_mode == IndexingMode::kNone;
}

absl::Status CheckNoHoldStands(const Container& container, int64_t holds) {
  if (holds == 0) return absl::OkStatus();
  return MakeError(Reason::kHoldsStand,
                   absl::StrCat("container \"", container.id, "\": ", holds,
                                " holds stand on its items: release them, or set force"),
                   {{"container", container.id}, {"holds", absl::StrCat(holds)}});
}

bool BreaksSubscriptions(const Container& container, const ContainerSettings& next) {
  const ContainerSettings& present = container.settings;
  const bool drops_feed = present.feed.has_value() && !next.feed.has_value();
  return drops_feed || (container.feed.has_gates && TakesIndexAway(present, next));
}

absl::Status CheckNoSubscriptionStands(const Container& container, int64_t subscriptions) {
  if (subscriptions == 0) return absl::OkStatus();
  return MakeError(Reason::kSubscriptionsExist,
                   absl::StrCat("container \"", container.id, "\": its feed has ", subscriptions,
                                " subscriptions: delete them, or set force"),
                   {{"container", container.id}, {"subscriptions", absl::StrCat(subscriptions)}});
}

Containers::Containers(Catalog& catalog, CommitQueue& queue, DeleteGate& gate,
                       const Tallies& tallies, const HoldTable& holds)
    : catalog_(catalog), queue_(queue), gate_(gate), tallies_(tallies), holds_(holds) {}

ContainerPtr Containers::Find(absl::string_view id) const { return catalog_.Find(id); }

ContainerPtr Containers::Find(uint64_t number) const { return catalog_.Find(number); }

std::vector<ContainerPtr> Containers::List(absl::string_view after, size_t limit) const {
  return catalog_.List(after, limit);
}

std::vector<ContainerPtr> Containers::All() const { return catalog_.All(); }

size_t Containers::Count() const { return catalog_.Count(); }

uint64_t Containers::Revision() const { return catalog_.Revision(); }

std::optional<ContainerChanges> Containers::ChangesAfter(uint64_t revision, size_t limit) const {
  return catalog_.ChangesAfter(revision, limit);
}

void Containers::AddListener(WakeSignal& signal) { catalog_.AddListener(signal); }
void Containers::RemoveListener(WakeSignal& signal) { catalog_.RemoveListener(signal); }

std::optional<Pause> Containers::PauseOfAll() const { return catalog_.PauseOfAll(); }

void Containers::ChangeBehindGate(uint64_t container,
                                  absl::AnyInvocable<absl::Status(Transaction&)> change,
                                  DoneStatus done) {
  auto open_and_answer = [this, container, done = std::move(done)](absl::Status status) mutable {
    gate_.Open(container);
    done(std::move(status));
  };
  gate_.Close(container,
              [this, change = std::move(change), answer = std::move(open_and_answer)]() mutable {
                queue_.Submit(kChangeBytes, std::move(change), std::move(answer));
              });
}

void Containers::Create(std::string id, ContainerSettings settings, absl::Time now,
                        Done<ContainerPtr> done) {
  absl::Status valid = ValidateContainerId(id);
  if (valid.ok()) valid = ValidateChange(ContainerSettings(), settings);
  if (!valid.ok()) return done(valid);
  auto created = std::make_shared<ContainerPtr>();
  auto create = [id = std::move(id), settings, now, created](Transaction& transaction) {
    if (transaction.FindContainer(id) != nullptr) {
      return MakeError(Reason::kContainerExists,
                       absl::StrCat("container \"", id, "\" already exists"), {{"container", id}});
    }
    Container container;
    TTL_ASSIGN_OR_RETURN(container.number, transaction.NewNumber());
    container.id = id;
    container.settings = settings;
    container.has_touches = settings.allow_touch;
    container.revision = 1;
    container.create_time = container.update_time = now;
    TTL_RETURN_IF_ERROR(FitIndex(transaction, container));
    TTL_RETURN_IF_ERROR(FitFeed(transaction, container, std::nullopt, now));
    NoteDataFormat(transaction, settings);
    container.index_build.reset();  // there is nothing to index yet
    const uint64_t number = container.number;
    transaction.PutContainer(std::move(container));
    *created = transaction.FindContainer(number);
    return absl::OkStatus();
  };
  queue_.Submit(kChangeBytes, std::move(create), AnswerWith(created, std::move(done)));
}

void Containers::Update(std::string id, Change change, absl::Time now, absl::Duration grace,
                        bool force, Done<ContainerPtr> done) {
  const ContainerPtr present = catalog_.Find(id);
  if (present == nullptr) return done(NoSuchContainer(id));
  // Refused here, a bad change need not wait for deletes on their way.
  const absl::StatusOr<ContainerSettings> preview = change(*present);
  const absl::Status valid =
      preview.ok() ? ValidateChange(present->settings, *preview) : preview.status();
  if (!valid.ok()) return done(valid);
  auto updated = std::make_shared<ContainerPtr>();
  auto update = [this, present, change = std::move(change), now, grace, force,
                 updated](Transaction& transaction) mutable -> absl::Status {
    TTL_ASSIGN_OR_RETURN(Container container, FindAgain(transaction, *present));
    TTL_ASSIGN_OR_RETURN(const ContainerSettings settings, change(container));
    TTL_RETURN_IF_ERROR(ValidateChange(container.settings, settings));
    if (!force && TakesIndexAway(container.settings, settings)) {
      TTL_RETURN_IF_ERROR(CheckNoHoldStands(container, StandingHolds(transaction, container)));
    }
    if (!force && BreaksSubscriptions(container, settings)) {
      TTL_RETURN_IF_ERROR(
          CheckNoSubscriptionStands(container, SubscriptionsOf(transaction, container)));
    }
    NoteDataFormat(transaction, settings);
    // In data that was never restored or repaired, no hold can be missing.
    if (settings.requires_holds && !container.settings.requires_holds &&
        holds_.Epoch() == kFirstHoldsEpoch) {
      container.accepted_holds_epoch = kFirstHoldsEpoch;
    }
    container.replaced_policies = HoldsAfter(container, settings, tallies_, now, grace);
    const std::optional<int64_t> old_default_ttl = container.settings.policy.default_ttl;
    container.settings = settings;
    container.has_touches = container.has_touches || settings.allow_touch;
    container.update_time = now;
    ++container.revision;
    TTL_RETURN_IF_ERROR(FitIndex(transaction, container));
    TTL_RETURN_IF_ERROR(FitFeed(transaction, container, old_default_ttl, now));
    transaction.PutContainer(std::move(container));
    *updated = transaction.FindContainer(present->number);
    return absl::OkStatus();
  };
  ChangeBehindGate(present->number, std::move(update), AnswerWith(updated, std::move(done)));
}

void Containers::ConfirmPolicy(std::string id, std::string etag, absl::Time now,
                               Done<ContainerPtr> done) {
  const ContainerPtr present = catalog_.Find(id);
  if (present == nullptr) return done(NoSuchContainer(id));
  auto confirmed = std::make_shared<ContainerPtr>();
  auto confirm = [this, present, etag = std::move(etag), now,
                  confirmed](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(Container container, FindAgain(transaction, *present));
    TTL_RETURN_IF_ERROR(CheckEtag(container, etag));
    const auto ended = std::erase_if(container.replaced_policies, [now](const auto& entry) {
      return entry.braked_items.has_value() && now < entry.until;
    });
    const AdoptionTally adopted = tallies_.Adopted(container.number);
    if (ended == 0 && adopted.left == 0) {
      return MakeError(Reason::kNothingToConfirm,
                       absl::StrCat("container \"", container.id,
                                    "\": its brake is not pulled, and no adopted item waits"),
                       {{"container", container.id}});
    }
    container.adoption = ConfirmAdopted(container, adopted, now);
    transaction.PutContainer(std::move(container));
    *confirmed = transaction.FindContainer(present->number);
    return absl::OkStatus();
  };
  queue_.Submit(kChangeBytes, std::move(confirm), AnswerWith(confirmed, std::move(done)));
}

void Containers::PullBrakeIfTooManyAdopted(uint64_t number, absl::Time now, Done<bool> done) {
  auto is_pulled = std::make_shared<bool>(false);
  auto pull = [this, number, now, is_pulled](Transaction& transaction) -> absl::Status {
    const ContainerPtr present = transaction.FindContainer(number);
    if (present == nullptr) return absl::NotFoundError("the container was deleted meanwhile");
    const TallyView tally = tallies_.View(number);
    *is_pulled = AdoptionIsBraked(*present, now);
    if (*is_pulled || !AdoptionPullsBrake(*present, tally.adopted, tally.tracked.items)) {
      return absl::OkStatus();
    }
    Container container = *present;
    container.adoption = PullBrake(container, tally.adopted, now);
    transaction.PutContainer(std::move(container));
    *is_pulled = true;
    return absl::OkStatus();
  };
  queue_.Submit(kChangeBytes, std::move(pull),
                [is_pulled, done = std::move(done)](absl::Status status) mutable {
                  if (!status.ok()) return done(std::move(status));
                  done(*is_pulled);
                });
}

void Containers::Delete(std::string id, std::string etag, bool force, DoneStatus done) {
  const ContainerPtr present = catalog_.Find(id);
  if (present == nullptr) return done(NoSuchContainer(id));
  auto erase = [present, etag = std::move(etag), force](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(const Container container, FindAgain(transaction, *present));
    TTL_RETURN_IF_ERROR(CheckEtag(container, etag));
    if (!force) {
      TTL_RETURN_IF_ERROR(CheckNoHoldStands(container, StandingHolds(transaction, container)));
      TTL_RETURN_IF_ERROR(
          CheckNoSubscriptionStands(container, SubscriptionsOf(transaction, container)));
    }
    transaction.EraseContainer(container);
    transaction.Put(PurgeKey(container.number), EncodePurge(PurgeKind::kContainer));
    PurgeIndex(container.index_number, transaction);
    PurgeFeed(container.feed.number, transaction);
    return absl::OkStatus();
  };
  ChangeBehindGate(present->number, std::move(erase), std::move(done));
}

void Containers::SetPause(std::string id, std::optional<Pause> pause, Done<ContainerPtr> done) {
  const ContainerPtr present = catalog_.Find(id);
  if (present == nullptr) return done(NoSuchContainer(id));
  const bool is_pause = pause.has_value();
  auto changed = std::make_shared<ContainerPtr>();
  auto set = [present, pause = std::move(pause),
              changed](Transaction& transaction) -> absl::Status {
    TTL_ASSIGN_OR_RETURN(Container container, FindAgain(transaction, *present));
    container.pause = pause;
    transaction.PutContainer(std::move(container));
    *changed = transaction.FindContainer(present->number);
    return absl::OkStatus();
  };
  DoneStatus answer = AnswerWith(changed, std::move(done));
  if (is_pause) return ChangeBehindGate(present->number, std::move(set), std::move(answer));
  queue_.Submit(kChangeBytes, std::move(set), std::move(answer));
}

void Containers::SetPauseOfAll(std::optional<Pause> pause, DoneStatus done) {
  const bool is_pause = pause.has_value();
  auto set = [pause = std::move(pause)](Transaction& transaction) {
    transaction.SetPauseOfAll(pause);
    return absl::OkStatus();
  };
  if (is_pause) {
    return ChangeBehindGate(DeleteGate::kAllContainers, std::move(set), std::move(done));
  }
  queue_.Submit(kChangeBytes, std::move(set), std::move(done));
}

}  // namespace ttl
