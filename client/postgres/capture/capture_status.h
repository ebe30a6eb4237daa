#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"

namespace ttl::postgres {

// Progress of reading the rows of one table.
struct TableStatus {
  std::string container;
  int64_t scanned = 0;    // rows read by the first scan so far
  int64_t estimated = 0;  // rows of the table by the statistics; 0: unknown
  bool scan_done = false;
  bool ghosts_done = false;
  int64_t ghosts = 0;       // items untracked because they have no row, since the start
  int64_t untrackable = 0;  // rows seen that cannot be tracked, since the start
  int64_t null_times = 0;   // rows seen that null_means exempts for a NULL time, since the start
};

// Status of a capture.
struct CaptureStatus {
  // For humans; never empty.
  std::string state = "starting";
  // The problem that stops the capture, for humans; empty: none. The capture is not ready while
  // there is one.
  std::string problem;
  // Whether the capture waits for other sessions' transactions to end; `state` names the waiting
  // step. While streaming, set only after it has waited for some seconds.
  bool is_waiting_for_transactions = false;

  // Whether changes are streaming.
  bool is_streaming = false;
  // Whether changes are streaming and the sidecar has every commit made before the stream started.
  // Until then the stream may repeat changes of rows that have since been deleted.
  bool is_caught_up = false;
  // Whether changes are streaming and all tables are read, so that everything older than `lag` is
  // tracked.
  bool is_complete = false;

  // Every commit before this LSN is durable in the sidecar; 0: unknown.
  uint64_t acknowledged = 0;
  // WAL bytes after `acknowledged`, and the age of the oldest commit that is not durable in the
  // sidecar.
  int64_t lag_bytes = 0;
  absl::Duration lag;

  // WAL bytes that the server retains for the slot; absent: unknown, or there is no slot.
  std::optional<int64_t> slot_bytes;

  // Counts since the start.
  int64_t transactions = 0;  // received from the stream
  int64_t row_changes = 0;   // of followed tables, received from the stream
  int64_t reports = 0;       // built for the sidecar, from the stream and scans
  int64_t refused = 0;       // rejected by the sidecar
  int64_t restarts = 0;      // after errors
  int64_t slots_lost = 0;  // times that changes may have been missed and the tables were read again

  std::vector<TableStatus> tables;  // the followed tables, in the order of the definitions
  // Containers that do not exist in the sidecar, so that their tables are not followed, with the
  // reason.
  std::map<std::string, std::string> left_out;
};

// A CaptureStatus that one thread updates and others read. Thread-safe.
class CaptureStatusBoard {
 public:
  CaptureStatus Read() const {
    const MutexLock lock(mutex_);
    return status_;
  }
  void Update(absl::FunctionRef<void(CaptureStatus&)> change) {
    const MutexLock lock(mutex_);
    change(status_);
  }

 private:
  mutable Mutex mutex_;
  CaptureStatus status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_H_
