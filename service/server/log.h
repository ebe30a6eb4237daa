#ifndef TTL_SERVICE_SERVER_LOG_H_
#define TTL_SERVICE_SERVER_LOG_H_

#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace ttl {

// Writes the log: one line per event, made of `key=value` pairs, in UTC.
//
//   spdlog::info("container created: container={} new={}", ...)
//   ts=2026-01-31T12:00:00.000Z level=info msg="container created" container="a" new="..."
//
// The words in front of the first ": " name the event and are constant; values
// are quoted by the caller where they need it. Of events of the same name and
// level only kBurst are written per kWindow, and the next line after that says
// how many were left out (`suppressed=`); levels below info, which nobody has on by
// accident, are written in full. Thread-safe, as all sinks of its base.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr int kBurst = 20;
  static constexpr std::chrono::seconds kWindow{10};

  // `output` must outlive this and is written to from any thread, one at a time.
  explicit LogSink(std::ostream& output) : output_(output) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& event) override;
  void flush_() override;

 private:
  struct Window {
    spdlog::log_clock::time_point start;
    int64_t seen = 0;
  };

  // Counts an event. Returns how many were left out before it, -1 if it is to be
  // left out itself.
  int64_t Admit(spdlog::level::level_enum level, absl::string_view name,
                spdlog::log_clock::time_point time);

  std::ostream& output_;
  std::map<std::pair<int, std::string>, Window> windows_;
};

// Makes spdlog's default logger write lines of at least `level` to standard
// error, and gRPC's own words go there too. To be called before there are other threads.
void StartLogging(spdlog::level::level_enum level);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_LOG_H_
