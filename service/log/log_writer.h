#ifndef TTL_SERVICE_LOG_LOG_WRITER_H_
#define TTL_SERVICE_LOG_LOG_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// Writes lines to a descriptor on a thread of its own, so that no other thread waits for the
// reader. Lines that do not fit into the queue are lost and counted, and a line in their place says
// how many. A failed write is retried until it succeeds, so the log continues after a full disk, or
// when a reader of the pipe is back. Thread-safe.
class LogWriter {
 public:
  // Maximum size of the queued lines; as many again may be in the thread's hands.
  static constexpr size_t kMaxQueuedBytes = size_t{256} << 10;

  // Makes the line, including "\n", that says that `lines` lines were lost, and why.
  using LossLine = std::function<std::string(int64_t lines, absl::string_view reason)>;

  // `descriptor` must stay open. The thread blocks all signals.
  LogWriter(int descriptor, LossLine loss_line);

  // Drops lines that cannot be written now. Does not wait: call Drain() before.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Queues a line, which must end in "\n". Does not wait.
  void Write(absl::string_view line);

  // Waits until all queued lines are written, for at most `timeout`. Returns whether they are.
  bool Drain(absl::Duration timeout);

  // Whether there are unwritten lines. Async-signal-safe.
  bool HasUnwritten() const;

  // Number of lines lost since the start.
  int64_t lost_lines() const;

 private:
  struct State;

  // Shared with the thread, which is detached because it cannot be joined while it is in a write.
  const std::shared_ptr<State> state_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_WRITER_H_
