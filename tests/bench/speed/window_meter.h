#ifndef TTL_TESTS_BENCH_SPEED_WINDOW_METER_H_
#define TTL_TESTS_BENCH_SPEED_WINDOW_METER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "tests/bench/speed/sample.h"

namespace ttl::bench {

// Counts what is done within a window that begins after the warm-up, and how busy this
// process and the server are meanwhile. For one thread.
class WindowMeter {
 public:
  using Clock = std::chrono::steady_clock;

  // The warm-up begins now.
  WindowMeter(const Window& window, pid_t server);

  // `units` are done now. Returns whether the window goes on.
  bool Count(int64_t units) { return Count(units, Clock::now()); }

  // Per second of the window. REQUIRES: Count() has returned false.
  Sample Result() const;

 private:
  struct Reading {
    Clock::time_point time;
    std::chrono::nanoseconds generator;
    std::chrono::nanoseconds server;
  };
  enum class Phase { kWarmingUp, kCounting, kOver };

  bool Count(int64_t units, Clock::time_point now);
  Reading Read(Clock::time_point now) const;

  const pid_t server_;
  const Clock::time_point counted_from_;
  const std::chrono::milliseconds length_;
  Phase phase_ = Phase::kWarmingUp;
  int64_t units_ = 0;
  Reading begin_;
  Reading end_;
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_WINDOW_METER_H_
