#ifndef TTL_SERVICE_LOG_LOG_SINK_H_
#define TTL_SERVICE_LOG_LOG_SINK_H_

#include <spdlog/sinks/base_sink.h>

#include <functional>
#include <mutex>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/log_limiter.h"

namespace ttl {

// Makes one line (log_line.h) of each event:
//
//   spdlog::info("container created: container={} new={}", ...)
//   ts=2026-01-31T12:00:00.000Z level=info msg="container created" container="a" new="..."
//
// Callers quote values that need it. Of events of the same name and level only kBurst are
// written per kWindow, and the next line after that says how many were left out
// (`suppressed=`); levels below info, which nobody has on by accident, are written in full.
// Thread-safe, as all sinks of its base.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr int kBurst = 20;
  static constexpr absl::Duration kWindow = absl::Seconds(10);

  // `write` takes each line, "\n" included, from any thread, one at a time; it must not wait.
  explicit LogSink(std::function<void(absl::string_view line)> write) : write_(std::move(write)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& event) override;
  void flush_() override {}

 private:
  const std::function<void(absl::string_view)> write_;
  LogLimiter limiter_{kWindow, kBurst};
};

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_SINK_H_
