#include "service/storage/upkeep/hold_ender.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "service/base/done.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/engine/index_cursor.h"
#include "service/storage/format/key_codec.h"

// A step plans from what is committed. That nothing is left under a hold stays true, because
// nothing comes under a hold that has ended: it is not found, so no item is set aside under it and
// no key is added to it. What may have changed since is checked again in the commit: an item may
// have been deleted or written, and its entry is then gone too.
//
// An item's record that is damaged is passed over: the sweep, which reads it as well, deletes
// nothing then. A hold of which something else is damaged stays, and those behind it are cleared.
namespace ttl {
namespace {

// Entries and keys treated in one step: short enough not to be felt by the writes between.
constexpr size_t kPutBackPerStep = 500;
constexpr size_t kHoldsPerStep = 500;

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

// Files the item of an entry anew.
absl::Status PutBack(Transaction& transaction, const Container& container, const StoredHold& hold,
                     const IndexEntry& entry) {
  const ItemKey& key = entry.key;
  const uint64_t index = container.index_number;
  const EntryPosition place = HeldPosition(index, hold.hold.number);
  const absl::StatusOr<StoredItemPtr> before = transaction.GetItem(container.number, key);
  if (absl::IsDataLoss(before.status())) return absl::OkStatus();
  TTL_RETURN_IF_ERROR(before.status());
  if (*before == nullptr || (*before)->position != place) {
    if (index != 0) transaction.EraseEntry(index, entry);
    return absl::OkStatus();
  }
  const absl::StatusOr<uint64_t> holder = transaction.FindHolder(container.number, key);
  if (!holder.ok() && !absl::IsDataLoss(holder.status())) return holder.status();
  StoredItem after = **before;
  if (holder.value_or(0) != 0) {
    after.position = HeldPosition(index, *holder);
  } else {
    after.held_until = hold.end_time.value_or(0);
    const bool can_expire = BelongsAt(index, after).has_value();
    after.position = can_expire ? ReleasedPosition(index, after) : EntryPosition();
  }
  transaction.PutItem(container, key, *before, std::move(after));
  return absl::OkStatus();
}

absl::Status EraseKey(Transaction& transaction, const Hold& hold, const ItemKey& key) {
  absl::StatusOr<std::vector<uint64_t>> holds = transaction.KeyHolds(hold.container, key);
  if (!holds.ok() && !absl::IsDataLoss(holds.status())) return holds.status();
  if (holds.ok()) {
    std::erase(*holds, hold.number);
    transaction.PutKeyHolds(hold.container, key, *holds);
  }
  transaction.Erase(HoldKeysKey(hold.container, hold.number, key));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> HoldEnder::RunOnce() {
  absl::Status damage;
  TTL_ASSIGN_OR_RETURN(const std::vector<Work> works, Plan(damage));
  if (works.empty()) {
    TTL_RETURN_IF_ERROR(damage);
    return false;
  }
  const auto apply = [&works](Transaction& transaction) -> absl::Status {
    for (const Work& work : works) {
      const Hold& hold = work.hold->hold;
      const ContainerPtr container = transaction.FindContainer(hold.container);
      if (container == nullptr) continue;
      for (const IndexEntry& entry : work.set_aside) {
        TTL_RETURN_IF_ERROR(PutBack(transaction, *container, *work.hold, entry));
      }
      for (const ItemKey& key : work.keys) {
        TTL_RETURN_IF_ERROR(EraseKey(transaction, hold, key));
      }
      if (work.is_last) transaction.EraseHold(*work.hold);
    }
    return absl::OkStatus();
  };
  TTL_RETURN_IF_ERROR(Await<absl::Status>(
      [&](auto done) { parts_.queue.Submit(kPutBackPerStep * 64, apply, std::move(done)); }));
  NoteProgress(works.back());
  return true;
}

// Plans one commit for many holds, because most have few items.
absl::StatusOr<std::vector<HoldEnder::Work>> HoldEnder::Plan(absl::Status& damage) const {
  std::vector<Work> works;
  Next next;
  size_t left = kPutBackPerStep;
  for (StoredHoldPtr& hold : parts_.holds.FirstEnding(kHoldsPerStep)) {
    const ContainerPtr container = parts_.catalog.Find(hold->hold.container);
    if (container == nullptr) continue;  // deleted meanwhile
    Work work;
    work.hold = std::move(hold);
    absl::Status taken = TakeSetAside(container->index_number, left, next, work);
    if (taken.ok()) taken = TakeKeys(left - work.set_aside.size(), next, work);
    if (absl::IsDataLoss(taken)) {
      damage.Update(taken);
      continue;
    }
    TTL_RETURN_IF_ERROR(taken);
    left -= work.set_aside.size() + work.keys.size();
    work.is_last = left > 0;
    works.push_back(std::move(work));
    if (left == 0) break;
  }
  return works;
}

absl::Status HoldEnder::TakeSetAside(uint64_t index, size_t most, Next& next, Work& work) const {
  const uint64_t number = work.hold->hold.number;
  if (index == 0 || number < next.set_aside[index]) return absl::OkStatus();
  const auto time = static_cast<int64_t>(number);
  const bool resumes = resumed_.hold == number && resumed_.index == index;
  IndexCursor cursor(parts_.database, index, IndexFamily::kHeld,
                     resumes ? resumed_.place : IndexPlace{time});
  while (cursor.Valid() && cursor.entry().time == time && work.set_aside.size() < most) {
    work.set_aside.push_back(cursor.Take());
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  next.set_aside[index] = cursor.Valid() ? static_cast<uint64_t>(cursor.entry().time) : kNone;
  return absl::OkStatus();
}

absl::Status HoldEnder::TakeKeys(size_t most, Next& next, Work& work) const {
  const Hold& hold = work.hold->hold;
  uint64_t& next_hold = next.keys[hold.container];
  if (hold.scope != Hold::Scope::kKeys || hold.number < next_hold) return absl::OkStatus();
  const bool resumes = resumed_.hold == hold.number && !resumed_.key.empty();
  auto cursor = parts_.database.WalkPrefix(
      HoldKeysPrefix(hold.container),
      resumes ? resumed_.key : HoldKeysPrefix(hold.container, hold.number));
  for (; cursor.Valid() && work.keys.size() < most; cursor.Next()) {
    if (DecodeHoldNumber(cursor.key()) != hold.number) break;
    std::optional<ItemKey> key = DecodeHoldKeysKey(cursor.key());
    if (!key.has_value()) return absl::DataLossError("a key of a hold is truncated");
    work.keys.push_back(*std::move(key));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  next_hold = cursor.Valid() ? DecodeHoldNumber(cursor.key()).value_or(0) : kNone;
  return absl::OkStatus();
}

void HoldEnder::NoteProgress(const Work& last) {
  if (last.is_last) {
    resumed_ = {};
    return;
  }
  const Hold& hold = last.hold->hold;
  if (resumed_.hold != hold.number) resumed_ = {hold.number, 0, {}, ""};
  if (!last.set_aside.empty()) {
    const IndexEntry& entry = last.set_aside.back();
    const ContainerPtr container = parts_.catalog.Find(hold.container);
    resumed_.index = container == nullptr ? 0 : container->index_number;
    resumed_.place = {entry.time,
                      EncodeIndexKey(resumed_.index, entry.family, entry.time, entry.key)};
  }
  if (!last.keys.empty()) {
    resumed_.key = HoldKeysKey(hold.container, hold.number, last.keys.back());
  }
}

}  // namespace ttl
