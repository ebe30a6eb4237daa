#ifndef TTL_CLIENT_POSTGRES_ROW_VISIBLE_POSITION_H_
#define TTL_CLIENT_POSTGRES_ROW_VISIBLE_POSITION_H_

#include <cstdint>
#include <mutex>
#include <optional>

namespace ttl::postgres {

// Up to which LSN the sidecar knows all commits *and* every new snapshot sees them. A row that
// is read may be reported with this as its sequence: it holds every change up to there, and
// every later change will be reported with a larger one. What the sidecar knows alone would
// not do, since a commit is streamed before other sessions see it; while it waits for a
// synchronous standby, that may be long before.
//
// Pure: LSNs come from the capture, transaction ids from ObserveSnapshot() in
// observe_snapshot.h. Thread-safe.
class VisiblePosition {
 public:
  // Every change whose sequence is at most `lsn` is durable in the sidecar, and none beyond it
  // was left out. Goes back by StartOver() alone. A position at which something ends, be it a
  // commit or what a keepalive says, may be where the next commit starts: give the one before.
  void Acknowledge(uint64_t lsn);
  uint64_t acknowledged() const;

  // What a session saw after acknowledged() had been `acknowledged`: every transaction below
  // `xmin` has ended and is seen by new snapshots; those from `end` on had not begun. The xmax
  // of a snapshot is no such end: transactions that run may be beyond it.
  void ObserveSnapshot(uint64_t acknowledged, uint64_t xmin, uint64_t end);

  // Forgets everything: the WAL has gone back, so that what was known of it is of another one.
  void StartOver();

  // 0 at first. What was acknowledged counts once the xmin of a snapshot has reached the end
  // of what had begun after it.
  uint64_t Get() const;

 private:
  struct Candidate {
    uint64_t lsn;
    uint64_t end;
  };

  mutable std::mutex mutex_;
  // All guarded by mutex_.
  uint64_t acknowledged_ = 0;
  uint64_t visible_ = 0;
  std::optional<Candidate> candidate_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_VISIBLE_POSITION_H_
