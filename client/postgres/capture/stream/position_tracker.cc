#include "client/postgres/capture/stream/position_tracker.h"

#include <algorithm>

namespace ttl::postgres {

void PositionTracker::Commit(uint64_t end_lsn, uint64_t reports, absl::Time commit_time) {
  Add({end_lsn, reports, commit_time});
}

void PositionTracker::Idle(uint64_t lsn, uint64_t reports) { Add({lsn, reports, std::nullopt}); }

void PositionTracker::Add(Position position) {
  if (waiting_.empty() || waiting_.back().reports < position.reports) {
    waiting_.push_back(position);
    return;
  }
  // Both wait for the same reports, so extend the last position.
  Position& last = waiting_.back();
  last.lsn = std::max(last.lsn, position.lsn);
  if (!last.first_commit.has_value()) last.first_commit = position.first_commit;
}

bool PositionTracker::Advance(uint64_t durable) {
  const uint64_t before = acknowledged_;
  while (!waiting_.empty() && waiting_.front().reports <= durable) {
    acknowledged_ = std::max(acknowledged_, waiting_.front().lsn);
    waiting_.pop_front();
  }
  return acknowledged_ > before;
}

std::optional<absl::Time> PositionTracker::oldest_commit() const {
  for (const Position& position : waiting_) {
    if (position.first_commit.has_value()) return position.first_commit;
  }
  return std::nullopt;
}

}  // namespace ttl::postgres
