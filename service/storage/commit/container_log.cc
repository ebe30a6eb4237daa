#include "service/storage/commit/container_log.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace ttl {

void ContainerLog::Add(std::string id, bool deleted) {
  if (entries_.size() >= kMaxEntries) entries_.pop_front();
  entries_.push_back({std::move(id), deleted});
  ++revision_;
}

void ContainerLog::Forget() {
  entries_.clear();
  ++revision_;
}

std::optional<ContainerLog::Window> ContainerLog::After(uint64_t revision, size_t limit) const {
  if (revision > revision_ || revision_ - revision > entries_.size()) return std::nullopt;
  const size_t count = std::min(limit, static_cast<size_t>(revision_ - revision));
  const size_t first = entries_.size() - static_cast<size_t>(revision_ - revision);
  Window window{revision + count, {}};
  absl::flat_hash_map<absl::string_view, size_t> positions;
  for (size_t i = first; i < first + count; ++i) {
    const Entry& entry = entries_[i];
    const auto [known, added] = positions.try_emplace(entry.id, window.entries.size());
    if (added) {
      window.entries.push_back(entry);
    } else if (entry.deleted) {
      window.entries[known->second].deleted = true;
    }
  }
  return window;
}

}  // namespace ttl
