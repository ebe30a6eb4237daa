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

// Handles the signals of a daemon. SIGTERM and SIGINT request a stop. If the stop takes longer than
// the deadline, or a second signal arrives, the process ends at once with a line in the log and
// exit code 1. SIGHUP requests a reload. One per process.
class DaemonSignals {
 public:
  enum class Request { kReload, kStop };

  // Must be constructed before other threads start, so that they inherit the signal mask.
  // `stop_deadline` must be whole seconds.
  explicit DaemonSignals(absl::Duration stop_deadline);

  // Ends the supervision of the stop.
  ~DaemonSignals();
  DaemonSignals(const DaemonSignals&) = delete;
  DaemonSignals& operator=(const DaemonSignals&) = delete;

  // Waits for the next request, at most for `timeout`; absent if there was none. Several SIGHUPs
  // may become one request. Once a stop is requested, each call returns it. Not thread-safe.
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
  std::thread watcher_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_PROCESS_DAEMON_SIGNALS_H_
