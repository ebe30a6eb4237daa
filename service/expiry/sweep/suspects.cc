#include "service/expiry/sweep/suspects.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace ttl {

std::vector<DueItem> Suspects::Choose(std::vector<DueItem> due) {
  if (!group_of_.empty()) Keep(due);
  constexpr std::array kRotation = {Kind::kOther, Kind::kTriedBefore, Kind::kGroup};
  const auto last = std::find(kRotation.begin(), kRotation.end(), last_) - kRotation.begin();
  for (size_t step = 1; step <= kRotation.size(); ++step) {
    const Kind kind = kRotation[(static_cast<size_t>(last) + step) % kRotation.size()];
    if (std::none_of(due.begin(), due.end(),
                     [&](const DueItem& item) { return KindOf(item) == kind; })) {
      continue;
    }
    last_ = kind;
    uint64_t group = std::numeric_limits<uint64_t>::max();
    for (const auto& [key, number] : group_of_) group = std::min(group, number);
    std::erase_if(due, [&](const DueItem& item) {
      if (KindOf(item) != kind) return true;
      return kind == Kind::kGroup && group_of_.at(item.key) != group;
    });
    break;
  }
  return due;
}

bool Suspects::Suspect(const std::vector<DueItem>& items) {
  const auto added = std::count_if(items.begin(), items.end(), [this](const DueItem& item) {
    return !group_of_.contains(item.key);
  });
  if (group_of_.size() + static_cast<size_t>(added) > most_) return false;
  for (size_t i = 0; i < items.size(); ++i) {
    group_of_[items[i].key] = next_group_ + (i < items.size() / 2 ? 0 : 1);
  }
  next_group_ += 2;
  return true;
}

void Suspects::Clear(const std::vector<DueItem>& items) {
  if (group_of_.empty()) return;
  for (const DueItem& item : items) group_of_.erase(item.key);
}

Suspects::Kind Suspects::KindOf(const DueItem& item) const {
  if (group_of_.contains(item.key)) return Kind::kGroup;
  return item.item.retry_time.has_value() ? Kind::kTriedBefore : Kind::kOther;
}

void Suspects::Keep(const std::vector<DueItem>& due) {
  absl::flat_hash_map<ItemKey, uint64_t> kept;
  for (const DueItem& item : due) {
    const auto it = group_of_.find(item.key);
    if (it != group_of_.end()) kept.insert(*it);
  }
  group_of_ = std::move(kept);
}

}  // namespace ttl
