#ifndef TTL_CLIENT_POSTGRES_ROW_VISIBLE_POSITION_H_
#define TTL_CLIENT_POSTGRES_ROW_VISIBLE_POSITION_H_

#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"

namespace ttl::postgres {

// VisiblePosition is the LSN up to which the sidecar has all commits *and* every new snapshot sees
// them. A row that is read may be reported with this LSN as its sequence: the row contains every
// change up to it, and each later change will be reported with a higher one. The LSN up to which
// the sidecar has the commits is not enough, because a commit is streamed before other sessions see
// it; if it waits for a synchronous standby, that may be long before.
//
// Pure: LSNs come from the capture, xids from ObserveSnapshot() in observe_snapshot.h. Thread-safe.
class VisiblePosition {
 public:
  // Every change with a sequence of at most `lsn` is durable in the sidecar. Only StartOver() moves
  // the position back. The next commit may start at an end LSN, whether of a commit or a keepalive,
  // so pass the LSN before it.
  void Acknowledge(uint64_t lsn);
  uint64_t acknowledged() const;

  // Records a snapshot that a session took after acknowledged() had been `acknowledged`: every xid
  // below `xmin` has ended and is visible to new snapshots; xids from `end` on had not started. Do
  // not pass the snapshot's xmax as `end`: running transactions may be beyond it.
  void ObserveSnapshot(uint64_t acknowledged, uint64_t xmin, uint64_t end);

  // Forgets everything, because the WAL has gone back and all known LSNs belong to a different WAL.
  void StartOver();

  // Returns the position; 0 at first. It reaches an acknowledged LSN once a snapshot's xmin has
  // reached the `end` that was observed after the acknowledgement.
  uint64_t Get() const;

 private:
  struct Candidate {
    uint64_t lsn;
    uint64_t end;
  };

  mutable Mutex mutex_;
  uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t visible_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Candidate> candidate_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_VISIBLE_POSITION_H_
