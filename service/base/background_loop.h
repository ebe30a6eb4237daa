#ifndef TTL_SERVICE_BASE_BACKGROUND_LOOP_H_
#define TTL_SERVICE_BASE_BACKGROUND_LOOP_H_

#include <atomic>
#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "service/base/wake_signal.h"

namespace ttl {

// The dull loop around a worker: calls a step, waits as long as the step says
// or until woken, and again. All decisions are the step's, so that tests call
// the step and never wait. Stops, at the latest, when destroyed; the step under
// way is finished first, so it must be bounded.
class BackgroundLoop {
 public:
  // Does one bounded piece of work and returns how long to wait for the next.
  using Step = std::function<absl::Duration()>;

  // `signal` wakes the loop and must outlive it.
  BackgroundLoop(WakeSignal& signal, Step step)
      : signal_(signal), step_(std::move(step)), thread_([this] { Run(); }) {}
  ~BackgroundLoop() { Stop(); }
  BackgroundLoop(const BackgroundLoop&) = delete;
  BackgroundLoop& operator=(const BackgroundLoop&) = delete;

  // Ends the loop and waits for the step under way. May be called repeatedly,
  // by one thread.
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
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_BACKGROUND_LOOP_H_
