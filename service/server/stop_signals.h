#ifndef TTL_SERVICE_SERVER_STOP_SIGNALS_H_
#define TTL_SERVICE_SERVER_STOP_SIGNALS_H_

#include <signal.h>

#include <atomic>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "service/core/mutex.h"

namespace ttl {

// Turns SIGTERM and SIGINT into a stop, and sees to it that the process ends: a
// stop that takes longer than the deadline, or a second signal, ends it at once
// with a line in the log and exit code 1. SIGPIPE is ignored. One per process.
class StopSignals {
 public:
  // To be constructed before there are other threads, so that all of them leave
  // the signals to this. `deadline` in whole seconds.
  explicit StopSignals(absl::Duration deadline);

  // The stop is done: ends the watch.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits for the first signal, from which on the deadline counts.
  void Wait();

 private:
  void Watch();

  const absl::Duration deadline_;
  sigset_t signals_;
  std::atomic<bool> done_ = false;
  Mutex mutex_;
  CondVar condition_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watcher_;  // last: starts when all else is there
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_STOP_SIGNALS_H_
