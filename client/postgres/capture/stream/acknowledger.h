#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_ACKNOWLEDGER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_ACKNOWLEDGER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/capture/stream/position_keeper.h"
#include "client/postgres/capture/stream/position_tracker.h"
#include "client/postgres/capture/stream/replication_stream.h"
#include "client/postgres/capture/stream/source_position.h"
#include "client/postgres/row/visible_position.h"

namespace ttl::postgres {

// Acknowledger tells the server up to where it may discard WAL, in three steps: the reports of a
// transaction are durable in the sidecar; the sidecar keeps the position; the server is told. Not
// thread-safe.
class Acknowledger {
 public:
  // Everything before `start` of the server's WAL is durable in the sidecar. `keeper` has that
  // position; `visible` must outlive this.
  Acknowledger(std::unique_ptr<PositionKeeper> keeper, SourcePosition server, uint64_t start,
               VisiblePosition& visible);

  // The ends of the transactions received.
  PositionTracker& positions() { return positions_; }
  const PositionTracker& positions() const { return positions_; }

  // Acknowledges what is durable, of which `durable` reports are. Does not wait.
  absl::Status Step(uint64_t durable, absl::Time now, ReplicationStream& stream);

  // The LSN up to which the server may discard WAL.
  uint64_t Confirmed() const;

  // Whether a Step() has acknowledged anything.
  bool has_worked() const { return has_worked_; }
  // Whether the sidecar keeps a position that the server was not told yet.
  bool has_news() const { return has_news_; }

 private:
  absl::Status KeepPosition(absl::Time now);

  const std::unique_ptr<PositionKeeper> keeper_;
  const SourcePosition server_;  // its lsn is unused
  VisiblePosition& visible_;
  PositionTracker positions_;
  bool has_worked_ = false;
  bool has_news_ = false;
  absl::Time last_keep_ = absl::InfinitePast();
  absl::Time last_status_ = absl::InfinitePast();
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_ACKNOWLEDGER_H_
