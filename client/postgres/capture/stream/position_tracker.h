#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_TRACKER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"

namespace ttl::postgres {

// Which position of the WAL may be acknowledged: the one before which every report is
// durable. Reports are counted; a count stands for all of them up to there.
//
// Pure; for one thread.
class PositionTracker {
 public:
  // Everything before `acknowledged` is durable.
  explicit PositionTracker(uint64_t acknowledged) : acknowledged_(acknowledged) {}

  // A transaction ends at `end_lsn`; its reports, and all before, are the first `reports`.
  void Commit(uint64_t end_lsn, uint64_t reports, absl::Time commit_time);
  // Up to `lsn` there is nothing more. To be called between transactions.
  void Idle(uint64_t lsn, uint64_t reports);

  // The first `durable` reports are durable. Returns whether acknowledged() has moved.
  bool Advance(uint64_t durable);

  uint64_t acknowledged() const { return acknowledged_; }
  // When the first of the transactions committed that cannot be acknowledged yet.
  std::optional<absl::Time> oldest_commit() const;
  // How many positions are kept: no more than there are reports that are not durable.
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
