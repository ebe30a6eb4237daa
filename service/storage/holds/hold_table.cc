#include "service/storage/holds/hold_table.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/format/sidecar_facts.h"

namespace ttl {
namespace {

HoldPtr ToHold(const StoredHoldPtr& stored) { return {stored, &stored->hold}; }

absl::StatusOr<uint64_t> LoadEpoch(const Database& database) {
  TTL_ASSIGN_OR_RETURN(const auto stored, database.Get(MetaKey(kHoldsEpochFact)));
  return stored.has_value() ? DecodeHoldsEpoch(*stored) : kFirstHoldsEpoch;
}

}  // namespace

absl::Status HoldTable::Load(const Database& database,
                             const std::vector<ContainerPtr>& containers) {
  TTL_ASSIGN_OR_RETURN(const uint64_t epoch, LoadEpoch(database));
  absl::flat_hash_map<uint64_t, ContainerPtr> living;
  for (const ContainerPtr& container : containers) living[container->number] = container;
  std::vector<StoredHoldPtr> holds;
  absl::btree_map<uint64_t, UnreadableHolds> unreadable;
  auto cursor = database.ReadPrefix(std::string(1, kHoldTable));
  for (; cursor.Valid(); cursor.Next()) {
    const uint64_t number = DecodeHoldNumber(cursor.key()).value_or(0);
    const auto container = living.find(DecodeNumber(cursor.key()).value_or(0));
    if (container == living.end()) continue;  // it is being purged
    absl::StatusOr<StoredHold> hold = DecodeHold(container->first, number, cursor.value());
    if (!hold.ok()) {
      unreadable[container->first][number] =
          absl::StrCat("a hold of container \"", container->second->id,
                       "\" is left out, and nothing of it is deleted: ", hold.status().message());
      continue;
    }
    hold->container_id = container->second->id;
    holds.push_back(std::make_shared<const StoredHold>(*std::move(hold)));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  MutexLock lock(mutex_);
  by_number_.clear();
  by_container_.clear();
  container_ids_.clear();
  ends_.clear();
  ending_.clear();
  unreadable_ = std::move(unreadable);
  epoch_ = epoch;
  for (const StoredHoldPtr& hold : holds) Add(hold);
  return absl::OkStatus();
}

std::vector<std::string> HoldTable::Problems() const {
  std::vector<std::string> problems;
  MutexLock lock(mutex_);
  for (const auto& [container, holds] : unreadable_) {
    for (const auto& [number, problem] : holds) problems.push_back(problem);
  }
  return problems;
}

const HoldTable::OfContainer* HoldTable::FindContainer(uint64_t container) const {
  const auto it = by_container_.find(container);
  return it == by_container_.end() ? nullptr : &it->second;
}

StoredHoldPtr HoldTable::Find(uint64_t number) const {
  MutexLock lock(mutex_);
  const auto it = by_number_.find(number);
  return it == by_number_.end() ? nullptr : it->second;
}

StoredHoldPtr HoldTable::Find(uint64_t container, absl::string_view hold_id) const {
  MutexLock lock(mutex_);
  const OfContainer* of = FindContainer(container);
  if (of == nullptr) return nullptr;
  const auto it = of->standing.find(hold_id);
  return it == of->standing.end() ? nullptr : it->second;
}

std::vector<HoldPtr> HoldTable::List(uint64_t container, absl::string_view after_container,
                                     absl::string_view after_hold, size_t limit) const {
  std::vector<HoldPtr> page;
  MutexLock lock(mutex_);
  const auto add = [&page, limit](const OfContainer& of, absl::string_view after) {
    for (auto it = of.standing.upper_bound(after); it != of.standing.end(); ++it) {
      if (page.size() >= limit) return;
      page.push_back(ToHold(it->second));
    }
  };
  if (container != 0) {
    if (const OfContainer* of = FindContainer(container)) add(*of, after_hold);
    return page;
  }
  auto it = container_ids_.lower_bound(after_container);
  for (; it != container_ids_.end() && page.size() < limit; ++it) {
    add(by_container_.at(it->second), it->first == after_container ? after_hold : "");
  }
  return page;
}

int64_t HoldTable::CountStanding(uint64_t container) const { return CountsOf(container).standing; }

int64_t HoldTable::CountAll() const {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(by_number_.size());
}

int64_t HoldTable::CountEnding() const {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(ending_.size());
}

HoldTable::Counts HoldTable::CountsOf(uint64_t container) const {
  MutexLock lock(mutex_);
  const OfContainer* of = FindContainer(container);
  if (of == nullptr) return {};
  Counts counts;
  counts.standing = static_cast<int64_t>(of->standing.size());
  counts.on_all = static_cast<int64_t>(of->on_all.size());
  counts.by_key = of->by_key;
  counts.ending = static_cast<int64_t>(of->numbers.size()) - counts.standing;
  return counts;
}

uint64_t HoldTable::FindOnPartition(uint64_t container, absl::string_view partition_key) const {
  MutexLock lock(mutex_);
  const OfContainer* of = FindContainer(container);
  if (of == nullptr) return 0;
  const auto it = of->on_partition.find(partition_key);
  return it == of->on_partition.end() ? 0 : it->second.begin()->second->hold.number;
}

bool HoldTable::CoversPartition(uint64_t container, absl::string_view partition_key) const {
  MutexLock lock(mutex_);
  const OfContainer* of = FindContainer(container);
  return of != nullptr && (!of->on_all.empty() || of->on_partition.contains(partition_key));
}

std::vector<HoldPtr> HoldTable::Covering(uint64_t container, absl::string_view partition_key,
                                         const std::vector<uint64_t>& by_key, size_t limit) const {
  absl::btree_map<std::string, HoldPtr> found;
  MutexLock lock(mutex_);
  const OfContainer* of = FindContainer(container);
  if (of == nullptr) return {};
  const auto add = [&found, limit](const ById& holds) {
    size_t left = limit;
    for (auto it = holds.begin(); it != holds.end() && left > 0; ++it, --left) {
      found[it->first] = ToHold(it->second);
    }
  };
  add(of->on_all);
  const auto partition = of->on_partition.find(partition_key);
  if (partition != of->on_partition.end()) add(partition->second);
  for (const uint64_t number : by_key) {
    const auto it = by_number_.find(number);
    if (it == by_number_.end() || !it->second->stands()) continue;
    found[it->second->hold.hold_id] = ToHold(it->second);
  }
  std::vector<HoldPtr> first;
  for (auto it = found.begin(); it != found.end() && first.size() < limit; ++it) {
    first.push_back(std::move(it->second));
  }
  return first;
}

std::vector<uint64_t> HoldTable::FindOver(int64_t now_seconds, size_t most) const {
  std::vector<uint64_t> over;
  MutexLock lock(mutex_);
  for (auto it = ends_.begin(); it != ends_.end() && over.size() < most; ++it) {
    if (it->first > now_seconds) break;
    over.push_back(it->second);
  }
  return over;
}

std::vector<StoredHoldPtr> HoldTable::FirstEnding(size_t most) const {
  std::vector<StoredHoldPtr> first;
  MutexLock lock(mutex_);
  for (auto it = ending_.begin(); it != ending_.end() && first.size() < most; ++it) {
    first.push_back(it->second);
  }
  return first;
}

bool HoldTable::AreInDoubt(const Container& container) const {
  MutexLock lock(mutex_);
  if (unreadable_.contains(container.number)) return true;
  return container.settings.requires_holds && container.accepted_holds_epoch != epoch_;
}

std::vector<uint64_t> HoldTable::Unreadable(uint64_t container) const {
  std::vector<uint64_t> numbers;
  MutexLock lock(mutex_);
  const auto it = unreadable_.find(container);
  if (it == unreadable_.end()) return numbers;
  for (const auto& [number, problem] : it->second) numbers.push_back(number);
  return numbers;
}

uint64_t HoldTable::Epoch() const {
  MutexLock lock(mutex_);
  return epoch_;
}

void HoldTable::Publish(const Changes& changes) {
  if (changes.holds.empty() && changes.deleted_containers.empty()) return;
  const absl::flat_hash_set<uint64_t> deleted(changes.deleted_containers.begin(),
                                              changes.deleted_containers.end());
  MutexLock lock(mutex_);
  // What is found by its name goes first: one commit may have its successor too.
  for (const auto& [number, hold] : changes.holds) Remove(number);
  for (const uint64_t container : changes.deleted_containers) RemoveContainer(container);
  for (const auto& [number, hold] : changes.holds) {
    if (hold == nullptr || deleted.contains(hold->hold.container)) continue;
    RemoveUnreadable(hold->hold);
    Add(hold);
  }
}

void HoldTable::Add(const StoredHoldPtr& stored) {
  const Hold& hold = stored->hold;
  by_number_[hold.number] = stored;
  OfContainer& of = by_container_[hold.container];
  of.id = stored->container_id;
  of.numbers.insert(hold.number);
  if (!stored->stands()) {
    ending_[hold.number] = stored;
    return;
  }
  of.standing[hold.hold_id] = stored;
  container_ids_[of.id] = hold.container;
  if (hold.until.has_value()) ends_.emplace(absl::ToUnixSeconds(*hold.until), hold.number);
  switch (hold.scope) {
    case Hold::Scope::kKeys:
      ++of.by_key;
      break;
    case Hold::Scope::kPartition:
      of.on_partition[hold.partition_key][hold.hold_id] = stored;
      break;
    case Hold::Scope::kAll:
      of.on_all[hold.hold_id] = stored;
      break;
  }
}

void HoldTable::Remove(uint64_t number) {
  const auto it = by_number_.find(number);
  if (it == by_number_.end()) return;
  const StoredHoldPtr stored = it->second;
  by_number_.erase(it);
  const auto of = by_container_.find(stored->hold.container);
  of->second.numbers.erase(number);
  if (stored->stands()) {
    RemoveStanding(*stored, of->second);
  } else {
    ending_.erase(number);
  }
  if (of->second.numbers.empty()) by_container_.erase(of);
}

void HoldTable::RemoveStanding(const StoredHold& stored, OfContainer& of) {
  const Hold& hold = stored.hold;
  of.standing.erase(hold.hold_id);
  if (of.standing.empty()) container_ids_.erase(of.id);
  if (hold.until.has_value()) ends_.erase({absl::ToUnixSeconds(*hold.until), hold.number});
  switch (hold.scope) {
    case Hold::Scope::kKeys:
      --of.by_key;
      break;
    case Hold::Scope::kPartition: {
      const auto it = of.on_partition.find(hold.partition_key);
      it->second.erase(hold.hold_id);
      if (it->second.empty()) of.on_partition.erase(it);
      break;
    }
    case Hold::Scope::kAll:
      of.on_all.erase(hold.hold_id);
      break;
  }
}

void HoldTable::RemoveUnreadable(const Hold& hold) {
  const auto it = unreadable_.find(hold.container);
  if (it == unreadable_.end()) return;
  it->second.erase(hold.number);
  if (it->second.empty()) unreadable_.erase(it);
}

void HoldTable::RemoveContainer(uint64_t container) {
  unreadable_.erase(container);
  const OfContainer* of = FindContainer(container);
  if (of == nullptr) return;
  const absl::btree_set<uint64_t> numbers = of->numbers;
  for (const uint64_t number : numbers) Remove(number);
}

}  // namespace ttl
