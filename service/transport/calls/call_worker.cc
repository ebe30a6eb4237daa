#include "service/transport/calls/call_worker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"

namespace ttl {

CallWorker::CallWorker() : thread_([this] { Loop(); }) {}

CallWorker::~CallWorker() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

absl::Status CallWorker::Run(Task task) {
  const MutexLock lock(mutex_);
  if (waiting_.size() >= kMaxWaiting) {
    return MakeError(Reason::kTooManyCalls,
                     absl::StrCat(waiting_.size(), " calls of this kind are waiting: retry later"));
  }
  waiting_.push_back(std::move(task));
  changed_.NotifyOne();
  return absl::OkStatus();
}

void CallWorker::Loop() {
  while (true) {
    Task task;
    {
      const MutexLock lock(mutex_);
      while (waiting_.empty() && !ending_) changed_.Wait(mutex_);
      if (waiting_.empty()) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
  }
}

}  // namespace ttl
