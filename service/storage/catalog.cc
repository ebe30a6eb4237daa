#include "service/storage/catalog.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/core/status_macros.h"
#include "service/storage/database.h"
#include "service/storage/key_codec.h"
#include "service/storage/record_codec.h"

namespace ttl {

absl::Status Catalog::Load(const Database& database) {
  Changes all;
  std::vector<std::string> problems;
  auto cursor = database.ReadPrefix(std::string(1, kContainerTable));
  for (; cursor.Valid(); cursor.Next()) {
    const std::optional<uint64_t> number = DecodeNumber(cursor.key());
    if (!number.has_value()) return absl::DataLossError("a container's key is cut short");
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
  Reset(std::move(problems));
  Publish(all);
  return absl::OkStatus();
}

std::vector<std::string> Catalog::Problems() const {
  MutexLock lock(mutex_);
  return problems_;
}

void Catalog::Reset(std::vector<std::string> problems) {
  MutexLock lock(mutex_);
  problems_ = std::move(problems);
  by_number_.clear();
  by_id_.clear();
  pause_of_all_.reset();
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

std::optional<Pause> Catalog::PauseOfAll() const {
  MutexLock lock(mutex_);
  return pause_of_all_;
}

void Catalog::Publish(const Changes& changes) {
  MutexLock lock(mutex_);
  for (const auto& [number, container] : changes.containers) PublishContainer(number, container);
  if (changes.pause_of_all.has_value()) pause_of_all_ = *changes.pause_of_all;
}

void Catalog::PublishContainer(uint64_t number, const ContainerPtr& container) {
  if (container != nullptr) {
    by_number_[number] = container;
    by_id_[container->id] = container;
    return;
  }
  const auto it = by_number_.find(number);
  if (it == by_number_.end()) return;
  // A successor of the same id may have been published in the same commit.
  const auto named = by_id_.find(it->second->id);
  if (named != by_id_.end() && named->second->number == number) by_id_.erase(named);
  by_number_.erase(it);
}

}  // namespace ttl
