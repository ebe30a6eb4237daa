#include "tests/bench/speed/window_meter.h"

#include "tests/bench/speed/process_usage.h"

namespace ttl::bench {
namespace {

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

WindowMeter::WindowMeter(const Window& window, pid_t server)
    : server_(server), counted_from_(Clock::now() + window.warm_up), length_(window.length) {}

bool WindowMeter::Count(int64_t units, Clock::time_point now) {
  if (phase_ == Phase::kCounting) {
    units_ += units;
    if (now < begin_.time + length_) return true;
    phase_ = Phase::kOver;
    end_ = Read(now);
  } else if (phase_ == Phase::kWarmingUp && now >= counted_from_) {
    phase_ = Phase::kCounting;
    begin_ = Read(now);
  }
  return phase_ != Phase::kOver;
}

Sample WindowMeter::Result() const {
  const double seconds = Seconds(end_.time - begin_.time);
  return {static_cast<double>(units_) / seconds,
          Seconds(end_.generator - begin_.generator) / seconds,
          Seconds(end_.server - begin_.server) / seconds};
}

WindowMeter::Reading WindowMeter::Read(Clock::time_point now) const {
  return {now, CpuTime(0), CpuTime(server_)};
}

}  // namespace ttl::bench
