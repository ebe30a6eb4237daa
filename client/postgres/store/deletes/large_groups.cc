#include "client/postgres/store/deletes/large_groups.h"

namespace ttl::postgres {

void LargeGroups::Overran(const Key& key) {
  const MutexLock lock(mutex_);
  if (tries_.size() >= kMaxGroups && !tries_.contains(key)) tries_.clear();
  ++tries_[key];
}

void LargeGroups::Forget(const Key& key) {
  const MutexLock lock(mutex_);
  tries_.erase(key);
}

int LargeGroups::Tries(const Key& key) const {
  const MutexLock lock(mutex_);
  const auto found = tries_.find(key);
  return found == tries_.end() ? 0 : found->second;
}

}  // namespace ttl::postgres
