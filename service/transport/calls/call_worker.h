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

// A thread for calls that may take long, such as lists, so that they do not delay the checks on
// their queue's thread. Its queue is bounded by kMaxWaiting. Thread-safe.
class CallWorker {
 public:
  static constexpr size_t kMaxWaiting = 1024;

  using Task = absl::AnyInvocable<void()>;

  CallWorker();
  // Runs the waiting tasks, then ends. REQUIRES: Run() is not called any more.
  ~CallWorker();
  CallWorker(const CallWorker&) = delete;
  CallWorker& operator=(const CallWorker&) = delete;

  // Runs `task` on the thread, in order. RESOURCE_EXHAUSTED if too many tasks are waiting.
  absl::Status Run(Task task);

 private:
  void Loop();

  Mutex mutex_;
  CondVar changed_;
  std::deque<Task> waiting_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_CALL_WORKER_H_
