#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_TRACKER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"

namespace ttl::postgres {

// PositionTracker computes the LSN that may be acknowledged: every report before it is durable.
// Reports are identified by their count, which includes all previous ones.
//
// Pure. Not thread-safe.
class PositionTracker {
 public:
  // Everything before `acknowledged` is durable.
  explicit PositionTracker(uint64_t acknowledged) : acknowledged_(acknowledged) {}

  // Records that a transaction ends at `end_lsn`; its reports and all previous ones are the first
  // `reports`.
  void Commit(uint64_t end_lsn, uint64_t reports, absl::Time commit_time);
  // Records that nothing else precedes `lsn`. REQUIRES: no transaction is open.
  void Idle(uint64_t lsn, uint64_t reports);

  // Records that the first `durable` reports are durable. Returns whether acknowledged() has
  // advanced.
  bool Advance(uint64_t durable);

  uint64_t acknowledged() const { return acknowledged_; }
  // The commit time of the first transaction that cannot be acknowledged yet.
  std::optional<absl::Time> oldest_commit() const;
  // The number of positions held; at most the number of reports that are not durable.
  size_t size() const { return waiting_.size(); }

 private:
  struct Position {
    uint64_t lsn;
    uint64_t reports;
    std::optional<absl::Time> first_commit;
  };

  void Add(Position position);

  uint64_t acknowledged_;
  std::deque<Position> waiting_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_TRACKER_H_
