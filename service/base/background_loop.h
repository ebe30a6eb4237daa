#ifndef TTL_SERVICE_BASE_BACKGROUND_LOOP_H_
#define TTL_SERVICE_BASE_BACKGROUND_LOOP_H_

#include <atomic>
#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "service/base/wake_signal.h"

namespace ttl {

// Runs a step on a thread of its own, again and again: after each step it waits as long as the step
// returned, or until it is woken. All decisions are made by the step, so that tests call the step
// and never wait. The destructor stops the loop; a running step is finished first, so it must be
// bounded.
class BackgroundLoop {
 public:
  // Does a bounded amount of work and returns how long to wait before the next step.
  using Step = std::function<absl::Duration()>;

  // `signal` wakes the loop and must outlive it.
  BackgroundLoop(WakeSignal& signal, Step step)
      : signal_(signal), step_(std::move(step)), thread_([this] { Run(); }) {}
  ~BackgroundLoop() { Stop(); }
  BackgroundLoop(const BackgroundLoop&) = delete;
  BackgroundLoop& operator=(const BackgroundLoop&) = delete;

  // Stops the loop and waits for a running step. May be called repeatedly, but by one thread only.
  void Stop() {
    stopping_ = true;
    signal_.Notify();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    while (!stopping_) {
      const absl::Duration wait = step_();
      if (!stopping_ && wait > absl::ZeroDuration()) signal_.WaitFor(wait);
    }
  }

  WakeSignal& signal_;
  const Step step_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_BACKGROUND_LOOP_H_
