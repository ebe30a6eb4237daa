#include "client/postgres/row/visible_position.h"

#include <algorithm>

#include "service/base/mutex.h"

namespace ttl::postgres {

void VisiblePosition::Acknowledge(uint64_t lsn) {
  const MutexLock lock(mutex_);
  acknowledged_ = std::max(acknowledged_, lsn);
}

uint64_t VisiblePosition::acknowledged() const {
  const MutexLock lock(mutex_);
  return acknowledged_;
}

void VisiblePosition::ObserveSnapshot(uint64_t acknowledged, uint64_t xmin, uint64_t end) {
  const MutexLock lock(mutex_);
  if (candidate_.has_value() && xmin >= candidate_->end) {
    visible_ = candidate_->lsn;
    candidate_.reset();
  }
  // One candidate suffices: a later one would not become visible earlier.
  if (!candidate_.has_value() && acknowledged > visible_) candidate_ = {acknowledged, end};
}

void VisiblePosition::StartOver() {
  const MutexLock lock(mutex_);
  acknowledged_ = 0;
  visible_ = 0;
  candidate_.reset();
}

uint64_t VisiblePosition::Get() const {
  const MutexLock lock(mutex_);
  return visible_;
}

}  // namespace ttl::postgres
