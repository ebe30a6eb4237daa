#ifndef TTL_SERVICE_LOG_LOG_H_
#define TTL_SERVICE_LOG_LOG_H_

#include <spdlog/common.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "service/log/log_line.h"

namespace ttl {

// Maximum wait for unwritten lines when the process ends.
inline constexpr absl::Duration kMaxLogDrain = absl::Seconds(1);

// The log of a program on standard error, while main() runs. spdlog's default logger, and with it
// gRPC and protobuf, write lines (log_sink.h) on a separate thread (log_writer.h): logging never
// blocks, and lines that cannot be written in time are lost and counted. Ignores SIGPIPE. One per
// process.
class Log {
 public:
  // Writes lines of at least `level`, each prefixed by `before_line`. Must be constructed before
  // other threads start.
  explicit Log(spdlog::level::level_enum level, std::string before_line = "");

  // Calls Drain().
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Later lines are written in this format, instead of logfmt. No effect without a Log.
  // Thread-safe.
  static void SetFormat(LogFormat format);

  // Waits until the lines logged so far are written, for at most kMaxLogDrain. Must be called
  // before _exit(); abort() drains by itself. Thread-safe.
  static void Drain();

  // Number of lost lines. Thread-safe.
  static int64_t LostLines();
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_H_
