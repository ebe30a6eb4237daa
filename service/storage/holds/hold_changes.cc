#include "service/storage/holds/hold_changes.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

// In place of a container, none of which has this number.
constexpr uint64_t kAllHolds = 0;

std::string NameOf(uint64_t container, absl::string_view hold_id) {
  return absl::StrCat(container, "/", hold_id);
}

}  // namespace

StoredHoldPtr HoldChanges::Find(uint64_t number) const {
  const StoredHoldPtr* gathered = holds_.Find(number);
  return gathered != nullptr ? *gathered : table_.Find(number);
}

StoredHoldPtr HoldChanges::Find(uint64_t container, absl::string_view hold_id) const {
  const uint64_t* gathered = by_name_.Find(NameOf(container, hold_id));
  if (gathered != nullptr) return *gathered == 0 ? nullptr : Find(*gathered);
  const StoredHoldPtr committed = table_.Find(container, hold_id);
  return committed == nullptr ? nullptr : Find(committed->hold.number);
}

int64_t HoldChanges::CountStanding(uint64_t container) const {
  const int64_t* gathered = counts_.Find(container);
  return gathered != nullptr ? *gathered : table_.CountStanding(container);
}

int64_t HoldChanges::CountAll() const {
  const int64_t* gathered = counts_.Find(kAllHolds);
  return gathered != nullptr ? *gathered : table_.CountAll();
}

void HoldChanges::Put(StoredHold hold) {
  const uint64_t number = hold.hold.number;
  Set(number, std::make_shared<const StoredHold>(std::move(hold)));
}

void HoldChanges::Erase(uint64_t number) { Set(number, nullptr); }

void HoldChanges::Set(uint64_t number, StoredHoldPtr after) {
  const StoredHoldPtr before = Find(number);
  const bool stood = before != nullptr && before->stands();
  const bool stands = after != nullptr && after->stands();
  const Hold& hold = (after != nullptr ? after : before)->hold;
  if (stood != stands) {
    by_name_.Set(NameOf(hold.container, hold.hold_id), stands ? number : 0);
    counts_.Set(hold.container, CountStanding(hold.container) + (stands ? 1 : -1));
  }
  if ((before == nullptr) != (after == nullptr)) {
    counts_.Set(kAllHolds, CountAll() + (before == nullptr ? 1 : -1));
  }
  holds_.Set(number, std::move(after));
}

void HoldChanges::Keep() {
  holds_.Keep();
  by_name_.Keep();
  counts_.Keep();
}

void HoldChanges::Discard() {
  holds_.Discard();
  by_name_.Discard();
  counts_.Discard();
}

HoldTable::Changes HoldChanges::kept() const {
  HoldTable::Changes changes;
  for (const auto& [number, hold] : holds_.kept()) changes.holds.emplace_back(number, hold);
  return changes;
}

}  // namespace ttl
