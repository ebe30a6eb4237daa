#include "service/storage/holds.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/delete_gate.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/holds/hold_table.h"

// A hold is kept in three tables: its record, which HoldTable has in memory, and for a hold by key
// two entries for each key, to find the holds of a key and the keys of a hold. A lookup by key is
// one Get, so what was erased around it costs nothing.
//
// Place() publishes the hold first and then awaits the passes of the delete gate that are out. The
// sweep asks for holds after it has entered the gate: whatever enters later sees the hold, and
// whatever entered before has been carried out, or can no longer be, when its pass is given back.
//
// A hold that ends is only marked in its record: from then on no lookup finds it, and no item can
// be set aside under its number any more. upkeep/hold_ender.h puts its items back, erases its keys
// and then the record. So a hold of the same name that is placed meanwhile is another one.
namespace ttl {
namespace {

// Holds ended in one step.
constexpr size_t kEndedPerStep = 500;

constexpr size_t kHoldChangeBytes = 512;  // about what a change holds in memory

absl::Status NoContainerOf(absl::string_view id) {
  return MakeError(Reason::kContainerNotFound,
                   absl::StrCat("container: there is no container \"", id, "\""),
                   {{"container", std::string(id)}});
}

absl::Status NoSuchHold(absl::string_view container, absl::string_view hold_id) {
  return MakeError(
      Reason::kHoldNotFound,
      absl::StrCat("hold_id: container \"", container, "\" has no hold \"", hold_id, "\""),
      {{"container", std::string(container)}, {"hold_id", std::string(hold_id)}});
}

Hold::Scope ScopeOf(const HoldRequest& request) {
  if (std::holds_alternative<ItemsByKey>(request.scope)) return Hold::Scope::kKeys;
  if (std::holds_alternative<ItemsOfPartition>(request.scope)) return Hold::Scope::kPartition;
  return Hold::Scope::kAll;
}

absl::Span<const ItemKey> KeysOf(const HoldRequest& request) {
  const auto* by_key = std::get_if<ItemsByKey>(&request.scope);
  return by_key == nullptr ? absl::Span<const ItemKey>() : by_key->keys;
}

size_t BytesOf(const HoldRequest& request) {
  size_t bytes = kHoldChangeBytes + request.reason.size();
  for (const ItemKey& key : KeysOf(request)) {
    bytes += sizeof(ItemKey) + key.partition_key.size() + key.id.size();
  }
  return bytes;
}

// Says how a scope is chosen in a request.
std::string DescribeScope(const Hold& hold) {
  switch (hold.scope) {
    case Hold::Scope::kKeys:
      return "keys";
    case Hold::Scope::kPartition:
      return "a partition_key";
    case Hold::Scope::kAll:
      return "all_items";
  }
  return "";
}

absl::Status CheckScope(const Hold& present, const Hold& asked, absl::string_view container) {
  if (present.scope == asked.scope && present.partition_key == asked.partition_key) {
    return absl::OkStatus();
  }
  return MakeError(
      Reason::kHoldScopeDiffers,
      absl::StrCat("scope: hold \"", present.hold_id, "\" of container \"", container, "\" is on ",
                   DescribeScope(present), ": give the same scope, or choose another hold_id"),
      {{"container", std::string(container)}, {"hold_id", present.hold_id}});
}

// The hold that `request` asks for, without its keys: the present one of that name, changed, or a
// new one.
absl::StatusOr<StoredHold> MakeHold(Transaction& transaction, const HoldTable& table,
                                    const Container& container, const HoldRequest& request,
                                    absl::Time now) {
  StoredHold stored;
  stored.container_id = container.id;
  Hold& hold = stored.hold;
  hold.container = container.number;
  hold.hold_id = request.hold_id;
  hold.scope = ScopeOf(request);
  if (const auto* partition = std::get_if<ItemsOfPartition>(&request.scope)) {
    hold.partition_key = partition->partition_key;
  }
  const StoredHoldPtr present = transaction.holds().Find(container.number, request.hold_id);
  if (present != nullptr) {
    TTL_RETURN_IF_ERROR(CheckScope(present->hold, hold, container.id));
    hold = present->hold;
  } else if (transaction.holds().CountAll() >= kMaxHolds) {
    return MakeError(
        Reason::kTooManyHolds,
        absl::StrCat("there are ", kMaxHolds, " holds, which is the most (", table.CountEnding(),
                     " of them have ended and are being cleared away: retry later): "
                     "release some, or use one hold for more keys"),
        {{"limit", absl::StrCat(kMaxHolds)}});
  } else {
    TTL_ASSIGN_OR_RETURN(hold.number, transaction.NewNumber());
    hold.create_time = now;
  }
  hold.reason = request.reason;
  hold.author = request.author;
  hold.until = request.until;
  return stored;
}

// Adds the keys that the hold does not have yet.
absl::Status AddKeys(Transaction& transaction, absl::Span<const ItemKey> keys, Hold& hold) {
  for (const ItemKey& key : keys) {
    TTL_ASSIGN_OR_RETURN(std::vector<uint64_t> holds, transaction.KeyHolds(hold.container, key));
    const auto place = std::lower_bound(holds.begin(), holds.end(), hold.number);
    if (place != holds.end() && *place == hold.number) continue;
    if (holds.size() >= Holds::kMaxHoldsPerKey) {
      return MakeError(
          Reason::kTooManyHolds,
          absl::StrCat("a key is under ", holds.size(), " holds, which is the most: release some"),
          {{"limit", absl::StrCat(Holds::kMaxHoldsPerKey)}});
    }
    holds.insert(place, hold.number);
    transaction.PutKeyHolds(hold.container, key, holds);
    transaction.Put(HoldKeysKey(hold.container, hold.number, key), "");
    ++hold.key_count;
  }
  return absl::OkStatus();
}

// Whether there is an item. One that cannot be read is there, and is not deleted.
absl::StatusOr<bool> IsTracked(const absl::StatusOr<StoredItemPtr>& item) {
  if (absl::IsDataLoss(item.status())) return true;
  TTL_RETURN_IF_ERROR(item.status());
  return *item != nullptr;
}

// Notes in the container whether holds stand.
void NoteHolds(Transaction& transaction, const Container& container) {
  const bool has_holds = transaction.holds().CountStanding(container.number) > 0;
  if (container.has_holds == has_holds) return;
  Container noted = container;
  noted.has_holds = has_holds;
  transaction.PutContainer(std::move(noted));
}

void End(Transaction& transaction, const Container& container, const StoredHold& hold,
         absl::Time now) {
  StoredHold ended = hold;
  ended.end_time = absl::ToUnixSeconds(now);
  transaction.PutHold(std::move(ended));
  Container after = container;
  after.has_holds = transaction.holds().CountStanding(container.number) > 0;
  // Nothing of it was set aside, so the container itself says from when on its items are late.
  if (hold.hold.scope == Hold::Scope::kAll) after.held_until = absl::ToUnixSeconds(now);
  if (after.has_holds == container.has_holds && after.held_until == container.held_until) return;
  transaction.PutContainer(std::move(after));
}

// What a hold that cannot be read becomes when it is known that no hold is missing: one that has
// ended, so that what is left under its number is cleared away.
StoredHold EndedInPlaceOf(const Container& container, uint64_t number, absl::Time now) {
  StoredHold ended;
  ended.hold.number = number;
  ended.hold.container = container.number;
  ended.hold.hold_id = "unreadable";
  ended.hold.create_time = now;
  ended.hold.scope = Hold::Scope::kKeys;
  ended.container_id = container.id;
  ended.end_time = absl::ToUnixSeconds(now);
  return ended;
}

// A callback that answers with the count that `count` has by then.
DoneStatus AnswerCount(std::shared_ptr<int64_t> count, Done<int64_t> done) {
  return [count = std::move(count), done = std::move(done)](absl::Status status) mutable {
    if (!status.ok()) return done(std::move(status));
    done(*count);
  };
}

}  // namespace

// What Place() knows between its commit and its answer.
struct Holds::Placing {
  HoldRequest request;
  uint64_t container = 0;
  HoldPtr hold;
  std::vector<bool> tracked;  // when the hold was committed; one per key
};

void Holds::Place(std::string container_id, HoldRequest request, absl::Time now,
                  Done<PlacedHold> done) {
  const size_t bytes = BytesOf(request);
  auto placing = std::make_shared<Placing>();
  placing->request = std::move(request);
  auto place = [this, container_id = std::move(container_id), placing,
                now](Transaction& transaction) -> absl::Status {
    const ContainerPtr container = transaction.FindContainer(container_id);
    if (container == nullptr) return NoContainerOf(container_id);
    TTL_ASSIGN_OR_RETURN(StoredHold hold,
                         MakeHold(transaction, parts_.table, *container, placing->request, now));
    const absl::Span<const ItemKey> keys = KeysOf(placing->request);
    TTL_RETURN_IF_ERROR(AddKeys(transaction, keys, hold.hold));
    for (const ItemKey& key : keys) {
      TTL_ASSIGN_OR_RETURN(const bool tracked,
                           IsTracked(transaction.GetItem(container->number, key)));
      placing->tracked.push_back(tracked);
    }
    placing->container = container->number;
    placing->hold = std::make_shared<const Hold>(hold.hold);
    transaction.PutHold(std::move(hold));
    NoteHolds(transaction, *container);
    return absl::OkStatus();
  };
  parts_.queue.Submit(bytes, std::move(place),
                      [this, placing, done = std::move(done)](absl::Status status) mutable {
                        if (!status.ok()) return done(std::move(status));
                        AwaitDeletes(std::move(placing), std::move(done));
                      });
}

void Holds::AwaitDeletes(std::shared_ptr<Placing> placing, Done<PlacedHold> done) {
  const uint64_t container = placing->container;
  parts_.gate.AwaitPresent(container,
                           [this, placing = std::move(placing), done = std::move(done)]() mutable {
                             done(Outcome(*placing));
                           });
}

// Outcomes of deletes are committed before the pass is given back.
absl::StatusOr<PlacedHold> Holds::Outcome(const Placing& placing) const {
  PlacedHold placed;
  placed.hold = placing.hold;
  size_t i = 0;
  for (const ItemKey& key : KeysOf(placing.request)) {
    if (!placing.tracked[i++]) {
      placed.results.push_back(PlaceHoldResult::kNotTracked);
      continue;
    }
    TTL_ASSIGN_OR_RETURN(const bool tracked,
                         IsTracked(parts_.reader.Read(EncodeItemKey(placing.container, key))));
    placed.results.push_back(tracked ? PlaceHoldResult::kHeld : PlaceHoldResult::kAlreadyDeleted);
  }
  return placed;
}

void Holds::Release(std::string container_id, std::string hold_id, absl::Time now,
                    DoneStatus done) {
  auto release = [container_id = std::move(container_id), hold_id = std::move(hold_id),
                  now](Transaction& transaction) -> absl::Status {
    const ContainerPtr container = transaction.FindContainer(container_id);
    if (container == nullptr) return NoContainerOf(container_id);
    const StoredHoldPtr hold = transaction.holds().Find(container->number, hold_id);
    if (hold == nullptr) return NoSuchHold(container_id, hold_id);
    End(transaction, *container, *hold, now);
    return absl::OkStatus();
  };
  parts_.queue.Submit(kHoldChangeBytes, std::move(release), std::move(done));
}

void Holds::EndReached(absl::Time now, Done<int64_t> done) {
  const int64_t now_seconds = absl::ToUnixSeconds(now);
  std::vector<uint64_t> over = parts_.table.FindOver(now_seconds, kEndedPerStep);
  if (over.empty()) return done(int64_t{0});
  auto ended = std::make_shared<int64_t>(0);
  auto end = [over = std::move(over), now, now_seconds,
              ended](Transaction& transaction) -> absl::Status {
    for (const uint64_t number : over) {
      const StoredHoldPtr hold = transaction.holds().Find(number);
      if (hold == nullptr || !hold->stands()) continue;
      // Its end may have been moved meanwhile.
      const std::optional<absl::Time> until = hold->hold.until;
      if (!until.has_value() || absl::ToUnixSeconds(*until) > now_seconds) continue;
      const ContainerPtr container = transaction.FindContainer(hold->hold.container);
      if (container == nullptr) continue;
      End(transaction, *container, *hold, now);
      ++*ended;
    }
    return absl::OkStatus();
  };
  parts_.queue.Submit(kHoldChangeBytes, std::move(end), AnswerCount(ended, std::move(done)));
}

void Holds::Accept(std::string container_id, absl::Time now, DoneStatus done) {
  auto accept = [this, container_id = std::move(container_id), now](Transaction& transaction) {
    const ContainerPtr container = transaction.FindContainer(container_id);
    if (container == nullptr) return NoContainerOf(container_id);
    Container accepted = *container;
    accepted.accepted_holds_epoch = parts_.table.Epoch();
    const std::vector<uint64_t> unreadable = parts_.table.Unreadable(container->number);
    for (const uint64_t number : unreadable) {
      transaction.PutHold(EndedInPlaceOf(*container, number, now));
    }
    if (!unreadable.empty()) accepted.held_until = absl::ToUnixSeconds(now);
    const bool is_new = container->accepted_holds_epoch != accepted.accepted_holds_epoch;
    if (is_new || !unreadable.empty()) transaction.PutContainer(std::move(accepted));
    return absl::OkStatus();
  };
  parts_.queue.Submit(kHoldChangeBytes, std::move(accept), std::move(done));
}

void Holds::SetAside(uint64_t container, std::vector<HeldItem> items, Done<int64_t> done) {
  auto moved = std::make_shared<int64_t>(0);
  const size_t bytes = items.size() * sizeof(HeldItem);
  auto set_aside = [container, items = std::move(items),
                    moved](Transaction& transaction) -> absl::Status {
    const ContainerPtr living = transaction.FindContainer(container);
    if (living == nullptr || living->index_number == 0) return absl::OkStatus();
    for (const HeldItem& held : items) {
      TTL_ASSIGN_OR_RETURN(const StoredItemPtr before, transaction.GetItem(container, held.key));
      if (before == nullptr || before->generation != held.generation) continue;
      TTL_ASSIGN_OR_RETURN(const uint64_t holder, transaction.FindHolder(container, held.key));
      if (holder == 0 || before->position.family == IndexFamily::kHeld) continue;
      StoredItem after = *before;
      after.position = HeldPosition(living->index_number, holder);
      transaction.PutItem(*living, held.key, before, std::move(after));
      ++*moved;
    }
    return absl::OkStatus();
  };
  parts_.queue.Submit(bytes, std::move(set_aside), AnswerCount(moved, std::move(done)));
}

std::vector<HoldPtr> Holds::List(uint64_t container, absl::string_view after_container,
                                 absl::string_view after_hold, size_t limit) const {
  return parts_.table.List(container, after_container, after_hold, limit);
}

HoldPtr Holds::Find(uint64_t container, absl::string_view hold_id) const {
  const StoredHoldPtr stored = parts_.table.Find(container, hold_id);
  return stored == nullptr ? nullptr : HoldPtr(stored, &stored->hold);
}

absl::StatusOr<HeldKeysPage> Holds::ListKeys(const Hold& hold, const std::optional<ItemKey>& after,
                                             size_t limit) const {
  HeldKeysPage page;
  const std::string prefix = HoldKeysPrefix(hold.container, hold.number);
  // The smallest key behind another is that one with a zero byte appended.
  const std::string start =
      after.has_value() ? HoldKeysKey(hold.container, hold.number, *after) + '\0' : prefix;
  auto cursor = parts_.database.ReadPrefix(prefix, start);
  for (; cursor.Valid(); cursor.Next()) {
    if (page.keys.size() == limit) {
      if (limit > 0) page.next = page.keys.back();
      return page;
    }
    std::optional<ItemKey> key = DecodeHoldKeysKey(cursor.key());
    if (!key.has_value()) return absl::DataLossError("a key of a hold is truncated");
    page.keys.push_back(*std::move(key));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return page;
}

bool Holds::HasHolds(uint64_t container) const { return parts_.table.CountStanding(container) > 0; }

bool Holds::HoldsAll(uint64_t container) const {
  return parts_.table.CountsOf(container).on_all > 0;
}

absl::StatusOr<std::vector<uint64_t>> Holds::HoldsByKey(uint64_t container,
                                                        const ItemKey& key) const {
  if (parts_.table.CountsOf(container).by_key == 0) return std::vector<uint64_t>();
  TTL_ASSIGN_OR_RETURN(const auto stored, parts_.database.Get(KeyHoldsKey(container, key)));
  if (!stored.has_value()) return std::vector<uint64_t>();
  return DecodeKeyHolds(*stored);
}

absl::StatusOr<bool> Holds::IsHeld(uint64_t container, const ItemKey& key) const {
  if (parts_.table.CoversPartition(container, key.partition_key)) return true;
  TTL_ASSIGN_OR_RETURN(const std::vector<uint64_t> by_key, HoldsByKey(container, key));
  return std::any_of(by_key.begin(), by_key.end(), [this](uint64_t number) {
    const StoredHoldPtr hold = parts_.table.Find(number);
    return hold != nullptr && hold->stands();
  });
}

absl::StatusOr<std::vector<HoldPtr>> Holds::Covering(uint64_t container, const ItemKey& key,
                                                     size_t limit) const {
  TTL_ASSIGN_OR_RETURN(const std::vector<uint64_t> by_key, HoldsByKey(container, key));
  return parts_.table.Covering(container, key.partition_key, by_key, limit);
}

HoldCounts Holds::Counts(uint64_t container) const {
  const HoldTable::Counts counts = parts_.table.CountsOf(container);
  return {counts.standing, counts.on_all, parts_.tallies.SetAside(container), counts.ending};
}

bool Holds::AreInDoubt(const Container& container) const {
  return parts_.table.AreInDoubt(container);
}

}  // namespace ttl
