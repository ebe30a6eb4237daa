#ifndef TTL_SERVICE_PROCESS_DAEMON_SIGNALS_H_
#define TTL_SERVICE_PROCESS_DAEMON_SIGNALS_H_

#include <signal.h>

#include <atomic>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"

namespace ttl {

// The signals of a daemon. SIGTERM and SIGINT request a stop, and the process ends whatever
// happens: a stop that takes longer than the deadline, or a second signal, ends it at once
// with a line in the log and exit code 1. SIGHUP requests a reload. One per process.
class DaemonSignals {
 public:
  enum class Request { kReload, kStop };

  // To be constructed before there are other threads, so that all of them leave the signals to
  // this. `stop_deadline` in whole seconds.
  explicit DaemonSignals(absl::Duration stop_deadline);

  // The stop is done: ends the watch.
  ~DaemonSignals();
  DaemonSignals(const DaemonSignals&) = delete;
  DaemonSignals& operator=(const DaemonSignals&) = delete;

  // Waits for the next request, for at most `timeout`; absent if none came. Several signals
  // for a reload may become one request. A stop is requested again each time. For one thread.
  std::optional<Request> Next(absl::Duration timeout);
  Request Next();

 private:
  void Watch();
  void RequestReload();
  void RequestStop(int signal);

  const absl::Duration stop_deadline_;
  sigset_t signals_;
  std::atomic<bool> done_ = false;
  Mutex mutex_;
  CondVar requested_;
  bool reload_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watcher_;  // last: starts when all else is there
};

}  // namespace ttl

#endif  // TTL_SERVICE_PROCESS_DAEMON_SIGNALS_H_
