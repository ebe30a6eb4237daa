#ifndef TTL_SERVICE_BASE_STOPWATCH_H_
#define TTL_SERVICE_BASE_STOPWATCH_H_

#include <chrono>
#include <cstdint>

namespace ttl {

// Measures elapsed time, for metrics only: items are judged by the guarded clock. Costs no system
// call.
class Stopwatch {
 public:
  void Restart() { start_ = Clock::now(); }

  // Time since construction or the last Restart().
  int64_t Nanoseconds() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_STOPWATCH_H_
