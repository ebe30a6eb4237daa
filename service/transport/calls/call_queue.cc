#include "service/transport/calls/call_queue.h"

#include <grpc/support/time.h>

#include <chrono>
#include <utility>

// Other threads reach the queue's thread through posted_ and an alarm: the first to post after the
// list was taken sets the alarm, whose tag is the mailbox; further posts until it fires only
// append. So there is one wake-up per burst, and the alarm is never set twice.
//
// gRPC's server shutdown does not wait for handlers, which post to this queue when they are done.
// So the completion queue may only be shut down when no call will use it any more: calls_ counts
// them, and after End the last EndCall() shuts it down.
//
// calls_, work_ and sending_ belong to the queue's thread and need no lock. Another thread that
// waits for zero posts an Awaited, which checks the count on the queue's thread, then and after
// each change.
namespace ttl {
namespace {

// How long a thread that may sleep stays idle first, and how long it sleeps at a time, which is
// about what the first call after a pause waits.
constexpr int kIdleAfterMilliseconds = 100;
constexpr std::chrono::milliseconds kRest(5);

// The queue whose thread this is; null on all other threads.
thread_local const CallQueue* queue_of_this_thread = nullptr;

}  // namespace

CallQueue::CallQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue, CallCounters& counters,
                     const ServerAccess& access, WhenIdle when_idle,
                     absl::FunctionRef<void(CallQueue&)> accept_calls)
    : queue_(std::move(queue)), counters_(counters), access_(access) {
  accept_calls(*this);
  thread_ = std::thread([this, when_idle] {
    queue_of_this_thread = this;
    when_idle == WhenIdle::kRest ? RunWithRests() : Run();
  });
}

CallQueue::~CallQueue() {
  Post(end_);
  thread_.join();
}

bool CallQueue::IsOwnThread() const { return queue_of_this_thread == this; }

void CallQueue::Post(CallStep& step) {
  {
    const MutexLock lock(mutex_);
    posted_.push_back(&step);
    if (posted_.size() > 1) return;  // the alarm is set already
  }
  alarm_.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), &mailbox_);
}

void CallQueue::Mailbox::Proceed(bool /*ok*/) {
  {
    const MutexLock lock(queue_.mutex_);
    queue_.running_.swap(queue_.posted_);
  }
  for (CallStep* step : queue_.running_) step->Proceed(true);
  queue_.running_.clear();
}

void CallQueue::Awaited::Proceed(bool /*ok*/) {
  is_awaited_ = true;
  Check();
}

void CallQueue::Awaited::Check() {
  if (count_ == 0 && is_awaited_ && !reached_.HasBeenNotified()) reached_.Notify();
}

void CallQueue::EndWork() {
  --work_;
  no_work_.Check();
}

void CallQueue::AwaitWork() {
  Post(no_work_);
  no_work_.reached().WaitForNotification();
}

void CallQueue::EndSending() {
  --sending_;
  nothing_to_send_.Check();
}

void CallQueue::AwaitSending(absl::Time deadline) {
  Post(nothing_to_send_);
  nothing_to_send_.reached().WaitForNotificationWithDeadline(deadline);
}

void CallQueue::End::Proceed(bool /*ok*/) {
  queue_.ending_ = true;
  if (queue_.calls_ == 0) queue_.queue_->Shutdown();
}

void CallQueue::EndCall() {
  if (--calls_ == 0 && ending_) queue_->Shutdown();
}

void CallQueue::Run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<CallStep*>(tag)->Proceed(ok);
}

void CallQueue::RunWithRests() {
  const gpr_timespec idle_after = gpr_time_from_millis(kIdleAfterMilliseconds, GPR_TIMESPAN);
  const gpr_timespec at_once = gpr_inf_past(GPR_CLOCK_MONOTONIC);
  bool is_idle = false;
  while (true) {
    void* tag = nullptr;
    bool ok = false;
    switch (queue_->AsyncNext(&tag, &ok, is_idle ? at_once : idle_after)) {
      case grpc::CompletionQueue::SHUTDOWN:
        return;
      case grpc::CompletionQueue::GOT_EVENT:
        is_idle = false;
        static_cast<CallStep*>(tag)->Proceed(ok);
        break;
      case grpc::CompletionQueue::TIMEOUT:
        if (is_idle) std::this_thread::sleep_for(kRest);
        is_idle = true;
    }
  }
}

}  // namespace ttl
