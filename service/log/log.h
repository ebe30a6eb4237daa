#ifndef TTL_SERVICE_LOG_LOG_H_
#define TTL_SERVICE_LOG_LOG_H_

#include <spdlog/common.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace ttl {

// Longest wait for lines that are not written yet when the process ends.
inline constexpr absl::Duration kMaxLogDrain = absl::Seconds(1);

// The log of a program on standard error, for as long as main() runs. spdlog's default logger,
// and with it gRPC and protobuf, write lines (log_sink.h) in a thread of their own
// (log_writer.h): whoever logs never waits, and lines that cannot be written in time are lost
// and counted. SIGPIPE is ignored from then on. One per process.
class Log {
 public:
  // Lines of at least `level` are written, each with `before_line` in front. To be constructed
  // before there are other threads.
  explicit Log(spdlog::level::level_enum level, std::string before_line = "");

  // Drains.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Waits until the lines logged so far are written, for at most kMaxLogDrain. To be called
  // before _exit(); an abort drains by itself. From any thread.
  static void Drain();

  // How many lines were lost. From any thread.
  static int64_t LostLines();
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_H_
