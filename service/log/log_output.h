#ifndef TTL_SERVICE_LOG_LOG_OUTPUT_H_
#define TTL_SERVICE_LOG_LOG_OUTPUT_H_

#include <sys/types.h>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// Writes to an inherited descriptor. Writes to a pipe or a socket do not wait for the reader;
// writes to a file or a terminal may block. The flags of the descriptor are never changed, because
// other processes share them. Not thread-safe.
class LogOutput {
 public:
  // Does not take ownership; the descriptor must stay open.
  explicit LogOutput(int descriptor);
  ~LogOutput();
  LogOutput(const LogOutput&) = delete;
  LogOutput& operator=(const LogOutput&) = delete;

  // Writes a prefix of `bytes`. Returns its length, or the negated errno: -EAGAIN if there is no
  // room now. May raise SIGPIPE.
  ssize_t Write(absl::string_view bytes);

  // Waits until there may be room, for at most `timeout`.
  void AwaitRoom(absl::Duration timeout);

 private:
  enum class Kind { kPipe, kSocket, kOther };

  ssize_t WriteToPipe(absl::string_view bytes);
  bool HasRoom(absl::Duration timeout) const;

  const int descriptor_;
  const Kind kind_;
  int own_ = -1;  // the pipe with an open file description, and so flags, of our own; -1: none
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_OUTPUT_H_
