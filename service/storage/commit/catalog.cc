#include "service/storage/commit/catalog.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/base/wake_signal.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/data_format.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

namespace ttl {
namespace {

// Whether readers of the log are to hear of it.
bool IsChange(const Container& before, const Container& after) {
  return before.revision != after.revision || before.has_expire_at != after.has_expire_at ||
         before.has_holds != after.has_holds || before.feed.has_gates != after.feed.has_gates ||
         before.accepted_holds_epoch != after.accepted_holds_epoch ||
         before.index_build.has_value() != after.index_build.has_value();
}

}  // namespace

absl::Status Catalog::Load(const Database& database) {
  Changes all;
  std::vector<std::string> problems;
  auto cursor = database.ReadPrefix(std::string(1, kContainerTable));
  for (; cursor.Valid(); cursor.Next()) {
    const std::optional<uint64_t> number = DecodeNumber(cursor.key());
    if (!number.has_value()) return absl::DataLossError("the key of a container is truncated");
    absl::StatusOr<Container> container = DecodeContainer(*number, cursor.value());
    if (!container.ok()) {
      problems.push_back(absl::StrCat("container number ", *number,
                                      " is left out: ", container.status().message()));
      continue;
    }
    all.containers.emplace_back(*number, std::make_shared<const Container>(*std::move(container)));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  TTL_ASSIGN_OR_RETURN(const auto pause, database.Get(MetaKey(kPauseOfAllFact)));
  if (pause.has_value()) {
    TTL_ASSIGN_OR_RETURN(all.pause_of_all, DecodePause(*pause));
  }
  TTL_ASSIGN_OR_RETURN(const auto store, database.Get(MetaKey(kStoreFact)));
  all.store_epoch = 0;
  if (store.has_value()) {
    TTL_ASSIGN_OR_RETURN(const StoredStore stored, DecodeStore(*store));
    all.store_epoch = stored.epoch;
  }
  TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> data_format, database.DataFormat());
  all.data_format = data_format.value_or(kFirstDataFormat);
  Replace(all, std::move(problems));
  return absl::OkStatus();
}

std::vector<std::string> Catalog::Problems() const {
  MutexLock lock(mutex_);
  return problems_;
}

void Catalog::Replace(const Changes& all, std::vector<std::string> problems) {
  MutexLock lock(mutex_);
  const uint64_t before = log_.revision();
  problems_ = std::move(problems);
  by_number_.clear();
  by_id_.clear();
  building_.clear();
  pause_of_all_.reset();
  PublishAll(all);
  log_.Forget();
  NotifyIfAfter(before);
}

ContainerPtr Catalog::Find(absl::string_view id) const {
  MutexLock lock(mutex_);
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

ContainerPtr Catalog::Find(uint64_t number) const {
  MutexLock lock(mutex_);
  const auto it = by_number_.find(number);
  return it == by_number_.end() ? nullptr : it->second;
}

std::vector<ContainerPtr> Catalog::List(absl::string_view after, size_t limit) const {
  std::vector<ContainerPtr> page;
  MutexLock lock(mutex_);
  for (auto it = by_id_.upper_bound(after); it != by_id_.end() && page.size() < limit; ++it) {
    page.push_back(it->second);
  }
  return page;
}

std::vector<ContainerPtr> Catalog::All() const {
  std::vector<ContainerPtr> all;
  MutexLock lock(mutex_);
  all.reserve(by_number_.size());
  for (const auto& [number, container] : by_number_) all.push_back(container);
  return all;
}

size_t Catalog::Count() const {
  MutexLock lock(mutex_);
  return by_number_.size();
}

ContainerPtr Catalog::FindBuilding() const {
  MutexLock lock(mutex_);
  return building_.empty() ? nullptr : by_number_.at(*building_.begin());
}

std::optional<Pause> Catalog::PauseOfAll() const {
  MutexLock lock(mutex_);
  return pause_of_all_;
}

uint64_t Catalog::Revision() const {
  MutexLock lock(mutex_);
  return log_.revision();
}

std::optional<ContainerChanges> Catalog::ChangesAfter(uint64_t revision, size_t limit) const {
  MutexLock lock(mutex_);
  std::optional<ContainerLog::Window> window = log_.After(revision, limit);
  if (!window.has_value()) return std::nullopt;
  ContainerChanges changes{window->revision, {}, {}};
  for (ContainerLog::Entry& entry : window->entries) {
    const auto living = by_id_.find(entry.id);
    const bool lives = living != by_id_.end();
    if (lives) changes.containers.push_back(living->second);
    if (entry.deleted || !lives) changes.deleted.push_back(std::move(entry.id));
  }
  return changes;
}

void Catalog::AddListener(WakeSignal& signal) {
  MutexLock lock(mutex_);
  listeners_.push_back(&signal);
}

void Catalog::RemoveListener(WakeSignal& signal) {
  MutexLock lock(mutex_);
  std::erase(listeners_, &signal);
}

void Catalog::Publish(const Changes& changes) {
  MutexLock lock(mutex_);
  const uint64_t before = log_.revision();
  PublishAll(changes);
  NotifyIfAfter(before);
}

void Catalog::PublishAll(const Changes& changes) {
  if (changes.store_epoch.has_value()) store_epoch_ = *changes.store_epoch;
  if (changes.data_format.has_value()) data_format_ = *changes.data_format;
  for (const auto& [number, container] : changes.containers) {
    if (container != nullptr) {
      PublishContainer(number, container);
    } else {
      EraseContainer(number);
    }
  }
  if (changes.pause_of_all.has_value()) pause_of_all_ = *changes.pause_of_all;
}

void Catalog::PublishContainer(uint64_t number, const ContainerPtr& container) {
  ContainerPtr& known = by_number_[number];
  const bool is_change = known == nullptr || IsChange(*known, *container);
  known = container;
  by_id_[container->id] = container;
  if (container->index_build.has_value()) {
    building_.insert(number);
  } else {
    building_.erase(number);
  }
  if (is_change) log_.Add(container->id, /*deleted=*/false);
}

void Catalog::EraseContainer(uint64_t number) {
  const auto it = by_number_.find(number);
  if (it == by_number_.end()) return;
  log_.Add(it->second->id, /*deleted=*/true);
  // A successor of the same id may have been published in the same commit.
  const auto named = by_id_.find(it->second->id);
  if (named != by_id_.end() && named->second->number == number) by_id_.erase(named);
  by_number_.erase(it);
  building_.erase(number);
}

void Catalog::NotifyIfAfter(uint64_t revision) {
  if (log_.revision() == revision) return;
  for (WakeSignal* listener : listeners_) listener->Notify();
}

}  // namespace ttl
