#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace ttl::postgres {

// How far the rows of one table are read.
struct TableStatus {
  std::string container;
  int64_t scanned = 0;    // rows of the first scan so far
  int64_t estimated = 0;  // rows it has, by the statistics; 0: not known
  bool scan_done = false;
  bool ghosts_done = false;
  int64_t ghosts = 0;       // items untracked since they had no row, since the start
  int64_t untrackable = 0;  // rows met that cannot be tracked, since the start
  int64_t null_times = 0;   // rows met whose time is NULL as null_means expects, since the start
};

// What a capture is doing.
struct CaptureStatus {
  // In words; never empty.
  std::string state = "starting";
  // What keeps it from its work, for people; empty: nothing. Not ready while there is one.
  std::string problem;
  // Whether it can only go on when transactions have ended that others began: `state` says what
  // waits. While it is streaming, set only after it has waited for seconds.
  bool is_waiting_for_transactions = false;

  // Whether changes are streaming.
  bool is_streaming = false;
  // Whether that is so and the sidecar knows everything that was committed when it began. Until
  // then it may be told again of rows that are deleted by now.
  bool is_caught_up = false;
  // Whether it is streaming and all tables are read, so that everything older than `lag` is
  // tracked.
  bool is_complete = false;

  // All before it is durable in the sidecar; 0: not known yet.
  uint64_t acknowledged = 0;
  // How much WAL is behind that, and for how long the oldest commit that is not durable in the
  // sidecar has been waiting.
  int64_t lag_bytes = 0;
  absl::Duration lag;

  // What the server keeps back for the slot; absent: not known, or there is no slot.
  std::optional<int64_t> slot_bytes;

  // Since the start.
  int64_t transactions = 0;  // taken from the stream
  int64_t row_changes = 0;   // of our tables, taken from the stream
  int64_t reports = 0;       // put together for the sidecar, by stream and scans
  int64_t refused = 0;       // called impossible by the sidecar
  int64_t restarts = 0;      // after errors
  int64_t slots_lost = 0;    // changes may have been missed; the tables were read again

  std::vector<TableStatus> tables;  // that are followed, in the order of the definitions
  // Containers that the sidecar does not have, so that their tables are not followed; why.
  std::map<std::string, std::string> left_out;
};

// One that a thread keeps up to date for others. Thread-safe.
class CaptureStatusBoard {
 public:
  CaptureStatus Read() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  void Update(absl::FunctionRef<void(CaptureStatus&)> change) {
    const std::lock_guard lock(mutex_);
    change(status_);
  }

 private:
  mutable std::mutex mutex_;
  CaptureStatus status_;  // guarded by mutex_
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_H_
