#ifndef TTL_SERVICE_TRANSPORT_CALLS_CALL_WORKER_H_
#define TTL_SERVICE_TRANSPORT_CALLS_CALL_WORKER_H_

#include <cstddef>
#include <deque>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "service/base/mutex.h"

namespace ttl {

// A thread for calls that may take long, such as lists, so that they do not hold up the
// thread of their queue and with it the checks. Bounded. Thread-safe.
class CallWorker {
 public:
  static constexpr size_t kMaxWaiting = 1024;

  using Task = absl::AnyInvocable<void()>;

  CallWorker();
  // Runs what waits, then ends. REQUIRES: nothing is run any more.
  ~CallWorker();
  CallWorker(const CallWorker&) = delete;
  CallWorker& operator=(const CallWorker&) = delete;

  // Runs `task` on the thread, after those before it; RESOURCE_EXHAUSTED if too many
  // wait.
  absl::Status Run(Task task);

 private:
  void Loop();

  Mutex mutex_;
  CondVar changed_;
  std::deque<Task> waiting_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_CALL_WORKER_H_
