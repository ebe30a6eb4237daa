#include "service/storage/upkeep/housekeeper.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "service/base/done.h"
#include "service/base/status_macros.h"
#include "service/storage/commit/due_changes.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/commit/unannounced_marks.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"

// A step first reopens the database if a write has failed, and then does one part each of five
// tasks: purge keys of deleted containers, indexes and feeds, build an index, count items, clear
// away holds that have ended (hold_ender.h), count and drop events (feed_keeper.h). Each part plans
// its work from what is committed, limited by a number of keys, and applies it as one operation of
// the commit queue, which checks again what may have changed since. The progress of each task is
// stored or can be found again, so that a restart continues it. Compactions come last, when nothing
// else is left to do.
namespace ttl {
namespace {

// Keys treated in one step: short enough not to be felt by the writes between.
constexpr size_t kKeysPerStep = 1000;

// Numbers purged in one step, and containers counted.
constexpr size_t kNumbersPerStep = 500;

// Items counted in one step, all of it on a commit thread.
constexpr size_t kItemsCountedPerStep = 500;

absl::Status SubmitAndWait(CommitQueue& queue, size_t bytes, CommitQueue::Apply apply) {
  return Await<absl::Status>(
      [&](auto done) { queue.Submit(bytes, std::move(apply), std::move(done)); });
}

// Up to `most` keys of `prefix` from `start` on.
absl::StatusOr<std::vector<std::string>> TakeKeys(const Database& database,
                                                  const std::string& prefix,
                                                  const std::string& start, size_t most) {
  std::vector<std::string> keys;
  auto cursor = database.WalkPrefix(prefix, start);
  while (cursor.Valid()) {
    keys.emplace_back(cursor.key());
    // Not past the last one: what is erased behind it may be much.
    if (keys.size() == most) return keys;
    cursor.Next();
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return keys;
}

// Counts the items of a container after `position`, as they are committed, but no more than
// `left`, which it lowers by their number.
absl::StatusOr<Tallies::WalkStep> CountItems(const Database& database, const Container& container,
                                             const std::string& position, size_t& left) {
  const std::string prefix = ItemPrefix(container.number);
  Tallies::WalkStep step;
  step.reached = position;
  auto cursor = database.WalkPrefix(prefix, position.empty() ? prefix : position + '\0');
  for (; cursor.Valid() && left > 0; --left, cursor.Next()) {
    step.reached.assign(cursor.key().data(), cursor.key().size());
    // One that cannot be read can be neither changed nor deleted, so it never counts.
    const absl::StatusOr<StoredItem> item = DecodeStoredItem(cursor.value());
    if (!item.ok()) continue;
    Tallies::AddTo(step.items, *item);
    if (Tallies::IsFailing(*item)) ++step.failing;
    if (Tallies::IsSetAside(*item, container.index_number)) ++step.set_aside;
    if (Tallies::IsGated(*item, container.index_number)) ++step.gated;
    if (Tallies::IsAnnounced(*item, Tallies::AnnouncedAfter(container))) ++step.announced;
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  step.finished = !cursor.Valid();
  return step;
}

// Gives the items under `keys` their entries in the container's index.
absl::Status IndexItems(Transaction& transaction, const Container& container,
                        const std::vector<std::string>& keys) {
  for (const std::string& encoded : keys) {
    const std::optional<ItemKey> key = DecodeItemKey(encoded);
    if (!key.has_value()) return absl::DataLossError("the key of an item is truncated");
    TTL_ASSIGN_OR_RETURN(const StoredItemPtr before, transaction.GetItem(container.number, *key));
    if (before == nullptr || before->position.index == container.index_number) continue;
    StoredItem after = *before;
    after.position = BelongsAt(container.index_number, *before).value_or(EntryPosition());
    transaction.PutItem(container, *key, before, std::move(after));
  }
  return absl::OkStatus();
}

}  // namespace

Housekeeper::Housekeeper(Parts parts, std::function<void(absl::string_view)> warn)
    : parts_(parts),
      warn_(std::move(warn)),
      compactor_({parts.database, parts.catalog, parts.marks, parts.tallies, parts.tombstones,
                  parts.feed_log}),
      hold_ender_({parts.database, parts.catalog, parts.holds, parts.queue}),
      feed_keeper_({parts.database, parts.catalog, parts.feed_log, parts.queue}) {}

bool Housekeeper::RunOnce() {
  parts_.queue.SetFreeBytes(parts_.database.FreeBytes());
  const absl::Status recovered = Recover();
  if (!recovered.ok()) {
    Warn({std::string(recovered.message())});
    return false;
  }
  bool more = false;
  std::vector<std::string> troubles;
  // A task that fails, for example because of damaged data, does not block the others.
  for (const absl::StatusOr<bool>& step :
       {PurgeSome(), BuildSome(), CountSome(), hold_ender_.RunOnce()}) {
    if (!step.ok()) troubles.emplace_back(step.status().message());
    more = more || step.value_or(false);
  }
  const absl::StatusOr<bool> feeds = feed_keeper_.RunOnce();
  if (!feeds.ok()) troubles.emplace_back(feeds.status().message());
  Warn(std::move(troubles));
  // Busy feeds at their bounds may always have something to drop: compactions do not wait for that.
  const bool compacted = !more && compactor_.RunOnce();
  return more || compacted || feeds.value_or(false);
}

void Housekeeper::Warn(std::vector<std::string> troubles) {
  if (!troubles.empty() && troubles != troubles_) {
    warn_(absl::StrCat("housekeeping: ", absl::StrJoin(troubles, "; ")));
  }
  troubles_ = std::move(troubles);
}

absl::Status Housekeeper::Recover() {
  if (parts_.database.WriteHealth().ok()) return absl::OkStatus();
  const absl::Status status = parts_.database.Reopen([this]() -> absl::Status {
    purges_loaded_ = false;
    parts_.cache.Clear();
    parts_.marks.Clear();
    parts_.unannounced.Clear();
    TTL_RETURN_IF_ERROR(parts_.catalog.Load(parts_.database));
    TTL_RETURN_IF_ERROR(parts_.holds.Load(parts_.database, parts_.catalog.All()));
    TTL_RETURN_IF_ERROR(
        parts_.feed_log.Load(parts_.database, parts_.catalog.All(), parts_.catalog.DataFormat()));
    TTL_RETURN_IF_ERROR(parts_.tallies.Load(parts_.database, parts_.catalog));
    // Last: a container that was not known before is among them.
    parts_.due_changes.AddAll();
    parts_.unannounced.changes.AddAll();
    return absl::OkStatus();
  });
  if (status.ok())
    warn_("the database was reopened after a failed write; writes are accepted again");
  return status;
}

absl::StatusOr<bool> Housekeeper::PurgeSome() {
  if (!purges_loaded_) TTL_RETURN_IF_ERROR(parts_.purges.Load(parts_.database));
  purges_loaded_ = true;
  TTL_ASSIGN_OR_RETURN(PurgeStep step, PlanPurge());
  if (step.keys.empty() && step.finished.empty()) return false;
  TTL_RETURN_IF_ERROR(
      SubmitAndWait(parts_.queue, step.keys.size() * 64, [&](Transaction& transaction) {
        for (const std::string& key : step.keys) transaction.Erase(key);
        for (const Purged& purged : step.finished) transaction.Erase(PurgeKey(purged.number));
        return absl::OkStatus();
      }));
  for (const Purged& purged : step.finished) {
    if (purged.kind == PurgeKind::kIndex) {
      parts_.marks.Forget(purged.number);
      parts_.unannounced.Forget(purged.number);
    }
    for (const std::string& prefix : purged.prefixes) {
      parts_.tombstones.ForgetFew(prefix, Compactor::kMinErased);
    }
  }
  purging_ = step.begun;
  if (!step.keys.empty()) purge_from_ = std::move(step.keys.back());
  return true;
}

// The prefixes of the keys of what was deleted, ascending. Holds have keys only where there was
// ever one.
std::vector<std::string> Housekeeper::PrefixesOf(uint64_t number, PurgeKind kind) const {
  if (kind == PurgeKind::kIndex) return {IndexPrefix(number)};
  if (kind == PurgeKind::kFeed) {
    return {EventPrefix(number), FeedTrimKey(number), SubscriptionPrefix(number)};
  }
  if (parts_.catalog.DataFormat() < kHoldsDataFormat) return {ItemPrefix(number)};
  return {HoldPrefix(number), ItemPrefix(number), KeyHoldsPrefix(number), HoldKeysPrefix(number)};
}

// Plans one commit for many numbers, because most have few keys or none.
absl::StatusOr<Housekeeper::PurgeStep> Housekeeper::PlanPurge() const {
  PurgeStep step;
  for (const auto& [number, record] : parts_.purges.First(kNumbersPerStep)) {
    Purged purged;
    purged.number = number;
    TTL_ASSIGN_OR_RETURN(purged.kind, DecodePurge(record));
    purged.prefixes = PrefixesOf(purged.number, purged.kind);
    for (const std::string& prefix : purged.prefixes) {
      const bool resumes = purging_ == purged.number && purge_from_ > prefix;
      if (resumes && purge_from_ >= PrefixEnd(prefix)) continue;
      const size_t left = kKeysPerStep - step.keys.size();
      TTL_ASSIGN_OR_RETURN(std::vector<std::string> keys,
                           TakeKeys(parts_.database, prefix, resumes ? purge_from_ : prefix, left));
      const bool is_finished = keys.size() < left;
      std::move(keys.begin(), keys.end(), std::back_inserter(step.keys));
      if (!is_finished) {
        step.begun = purged.number;
        return step;
      }
    }
    step.finished.push_back(std::move(purged));
  }
  return step;
}

absl::StatusOr<bool> Housekeeper::BuildSome() {
  const ContainerPtr container = parts_.catalog.FindBuilding();
  if (container == nullptr) return false;
  TTL_RETURN_IF_ERROR(BuildIndex(*container));
  return true;
}

absl::Status Housekeeper::BuildIndex(const Container& container) {
  const std::string prefix = ItemPrefix(container.number);
  const std::string& cursor = container.index_build->cursor;
  TTL_ASSIGN_OR_RETURN(
      const std::vector<std::string> keys,
      TakeKeys(parts_.database, prefix, cursor.empty() ? prefix : cursor + '\0', kKeysPerStep));
  const bool finished = keys.size() < kKeysPerStep;
  const std::string& reached = keys.empty() ? cursor : keys.back();
  const uint64_t all = parts_.database.ApproximateBytes(prefix, PrefixEnd(prefix));
  const uint64_t walked = finished ? all : parts_.database.ApproximateBytes(prefix, reached);

  return SubmitAndWait(
      parts_.queue, keys.size() * 64, [&](Transaction& transaction) -> absl::Status {
        const ContainerPtr present = transaction.FindContainer(container.number);
        // The mode may have changed again since this step was planned.
        if (present == nullptr || present->index_number != container.index_number ||
            !present->index_build.has_value()) {
          return absl::OkStatus();
        }
        TTL_RETURN_IF_ERROR(IndexItems(transaction, *present, keys));
        Container next = *present;
        next.index_build->cursor = reached;
        next.index_build->items_indexed += static_cast<int64_t>(keys.size());
        next.index_build->percent =
            all == 0 ? 0 : static_cast<int>(std::min<uint64_t>(100, walked * 100 / all));
        if (finished) next.index_build.reset();
        transaction.PutContainer(std::move(next));
        return absl::OkStatus();
      });
}

absl::StatusOr<bool> Housekeeper::CountSome() {
  std::vector<uint64_t> containers = parts_.tallies.FindIncomplete(counting_, kNumbersPerStep);
  if (containers.empty()) containers = parts_.tallies.FindIncomplete(0, kNumbersPerStep);
  if (containers.empty()) return false;
  counting_ = containers.front() + 1;
  // Read while the commit is gathered: what is counted is what this commit begins from.
  TTL_RETURN_IF_ERROR(
      SubmitAndWait(parts_.queue, kItemsCountedPerStep * 64,
                    [&](Transaction& transaction) { return CountInto(transaction, containers); }));
  return true;
}

absl::Status Housekeeper::CountInto(Transaction& transaction,
                                    const std::vector<uint64_t>& containers) {
  size_t left = kItemsCountedPerStep;
  for (const uint64_t number : containers) {
    if (left == 0) break;
    const std::optional<std::string> position = parts_.tallies.WalkPosition(number);
    const ContainerPtr container = parts_.catalog.Find(number);
    if (!position.has_value() || container == nullptr) continue;  // deleted meanwhile
    absl::StatusOr<Tallies::WalkStep> step =
        CountItems(parts_.database, *container, *position, left);
    if (!step.ok()) {
      // Items counted before are kept; this container comes first in the next step and fails there.
      return number == containers.front() ? step.status() : absl::OkStatus();
    }
    transaction.PutWalkStep(number, *std::move(step));
    counting_ = number;
  }
  return absl::OkStatus();
}

}  // namespace ttl
