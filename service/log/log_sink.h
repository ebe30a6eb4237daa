#ifndef TTL_SERVICE_LOG_LOG_SINK_H_
#define TTL_SERVICE_LOG_LOG_SINK_H_

#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/log_limiter.h"
#include "service/log/log_line.h"

namespace ttl {

// Formats each event as one line (log_line.h):
//
//   spdlog::info("container created: container={} new={}", ...)
//   ts=2026-01-31T12:00:00.000Z level=info msg="container created" container="a" new="..."
//
// or as a JSON object, if that format is set. Callers quote values that need it. At most kBurst
// events of the same name and level are written per kWindow; the next line says how many were
// suppressed (`suppressed=`). Levels below info, which are off by default, are not limited.
// Thread-safe, like all sinks derived from base_sink<std::mutex>.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr int kBurst = 20;
  static constexpr absl::Duration kWindow = absl::Seconds(10);

  // `write` gets each line, including "\n". It is called on any thread, one at a time, and must not
  // block.
  explicit LogSink(std::function<void(absl::string_view line)> write) : write_(std::move(write)) {}

  // kLogfmt unless set; applies to later lines.
  void set_format(LogFormat format) { format_ = format; }
  LogFormat format() const { return format_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& event) override;
  void flush_() override {}

 private:
  const std::function<void(absl::string_view)> write_;
  std::atomic<LogFormat> format_ = LogFormat::kLogfmt;
  LogLimiter limiter_{kWindow, kBurst};
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_SINK_H_
