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

// Writes lines to a descriptor in a thread of its own, so that no other thread ever waits for
// whoever reads them. Lines for which there is no room in the queue are lost and counted; a
// line in their place says how many. A failed write is tried again until it succeeds: after a
// full disk, or when a reader of the pipe comes back, the log goes on where it was.
// Thread-safe.
class LogWriter {
 public:
  // Of the lines that wait; as many again may be on their way.
  static constexpr size_t kMaxQueuedBytes = size_t{256} << 10;

  // Makes the line, with "\n", that says that `lines` were lost, and why.
  using LossLine = std::function<std::string(int64_t lines, absl::string_view reason)>;

  // `descriptor` must stay open. The thread takes no signals.
  LogWriter(int descriptor, LossLine loss_line);

  // Gives up what cannot be written now. Does not wait: call Drain() before.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Takes a line, which ends in "\n". Does not wait.
  void Write(absl::string_view line);

  // Waits until all lines that were taken are written, for at most `timeout`. Returns whether
  // they are.
  bool Drain(absl::Duration timeout);

  // Whether lines wait to be written. Async-signal-safe.
  bool HasUnwritten() const;

  // How many lines were lost since the start.
  int64_t lost_lines() const;

 private:
  struct State;

  // Shared with the thread, which nobody can wait for while it is in a write.
  const std::shared_ptr<State> state_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_WRITER_H_
