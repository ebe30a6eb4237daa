#include "service/storage/commit/pending_purges.h"

#include "service/storage/format/key_codec.h"

namespace ttl {

absl::Status PendingPurges::Load(const Database& database) {
  auto cursor = database.ReadPrefix(std::string(1, kPurgeTable));
  for (; cursor.Valid(); cursor.Next()) {
    MutexLock lock(mutex_);
    records_.try_emplace(DecodeNumber(cursor.key()).value_or(0), std::string(cursor.value()));
  }
  return cursor.status();
}

void PendingPurges::Update(const WriteSet& writes) {
  MutexLock lock(mutex_);
  for (const auto& [key, value] : writes) {
    if (key[0] != kPurgeTable) continue;
    const uint64_t number = DecodeNumber(key).value_or(0);
    if (value.has_value()) {
      records_[number] = *value;
    } else {
      records_.erase(number);
    }
  }
}

std::vector<std::pair<uint64_t, std::string>> PendingPurges::First(size_t most) const {
  std::vector<std::pair<uint64_t, std::string>> first;
  MutexLock lock(mutex_);
  for (auto it = records_.begin(); it != records_.end() && first.size() < most; ++it) {
    first.emplace_back(*it);
  }
  return first;
}

}  // namespace ttl
