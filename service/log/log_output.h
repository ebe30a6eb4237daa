#ifndef TTL_SERVICE_LOG_LOG_OUTPUT_H_
#define TTL_SERVICE_LOG_LOG_OUTPUT_H_

#include <sys/types.h>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// An inherited descriptor that lines are written to. A write to a pipe or a socket does not
// wait for its reader; one to a file or a terminal waits for as long as the system makes it
// wait. The flags of the descriptor are never changed, because other processes share them.
// For one thread.
class LogOutput {
 public:
  // Does not take the descriptor over; it must stay open.
  explicit LogOutput(int descriptor);
  ~LogOutput();
  LogOutput(const LogOutput&) = delete;
  LogOutput& operator=(const LogOutput&) = delete;

  // Writes from the front of `bytes`. Returns how many of them were written, or the errno of
  // the failure, negated: -EAGAIN if there is no room now. May raise SIGPIPE.
  ssize_t Write(absl::string_view bytes);

  // Waits until there may be room, for at most `timeout`.
  void AwaitRoom(absl::Duration timeout);

 private:
  enum class Kind { kPipe, kSocket, kOther };

  ssize_t WriteToPipe(absl::string_view bytes);
  bool HasRoom(absl::Duration timeout) const;

  const int descriptor_;
  const Kind kind_;
  int own_ = -1;  // the pipe with a file description, and so flags, of our own; -1: none
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_OUTPUT_H_
