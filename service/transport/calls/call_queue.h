#ifndef TTL_SERVICE_TRANSPORT_CALLS_CALL_QUEUE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_CALL_QUEUE_H_

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/transport/access/server_access.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_step.h"

namespace ttl {

// A completion queue with the thread that polls it. All steps of a call run on the thread of its
// queue, so calls need no locks. Every tag used on the queue is a CallStep.
//
// All threads that wait in gRPC take turns at polling for the whole process, so each additional one
// slows down the calls of the others. The threads of less important queues therefore sleep outside
// of gRPC while they are idle.
class CallQueue {
 public:
  enum class WhenIdle {
    kWait,  // in gRPC, so that calls are handled at once
    kRest,  // sleep, and check for calls every few milliseconds
  };

  // Runs `accept_calls`, which starts to accept calls on the queue, then starts the thread. Calls
  // are counted in `counters` and authorized by `access`, that of the queue's server; both must
  // outlive the queue.
  CallQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue, CallCounters& counters,
            const ServerAccess& access, WhenIdle when_idle,
            absl::FunctionRef<void(CallQueue&)> accept_calls);

  // Waits until all calls have ended, then ends the thread. REQUIRES: the server's Shutdown() has
  // returned, so that no new call can arrive.
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  grpc::ServerCompletionQueue& queue() { return *queue_; }
  const ServerAccess& access() const { return access_; }
  CallCounters& counters() { return counters_; }

  // Mark a call that will use the queue again until it ends: gRPC's shutdown does not wait for
  // calls that handlers are still working on. Must be called on the queue's thread.
  void BeginCall() { ++calls_; }
  void EndCall();

  // Mark a running handler, which ends by itself. Must be called on the queue's thread.
  void BeginWork() { ++work_; }
  void EndWork();

  // Waits until no handler is running, at some instant after the call. Must not be called on the
  // queue's thread. To be called once.
  void AwaitWork();

  // Mark a response that is being sent to an admitted caller, or an open stream: this lasts until
  // the client has read it. Must be called on the queue's thread.
  void BeginSending() { ++sending_; }
  void EndSending();

  // Waits until nothing is being sent, at some instant after the call, or until `deadline`. Must
  // not be called on the queue's thread. To be called once, after AwaitWork().
  void AwaitSending(absl::Time deadline);

  // Whether this is the queue's thread.
  bool IsOwnThread() const;

  // Runs `step` on the queue's thread. May be called on any thread; a burst of posts costs one
  // wake-up.
  void Post(CallStep& step);

 private:
  // Runs the posted steps.
  class Mailbox final : public CallStep {
   public:
    explicit Mailbox(CallQueue& queue) : queue_(queue) {}
    void Proceed(bool ok) override;

   private:
    CallQueue& queue_;
  };

  // Notifies another thread when a count of the queue's thread is 0. The count is read on the
  // queue's thread only.
  class Awaited final : public CallStep {
   public:
    explicit Awaited(const int64_t& count) : count_(count) {}
    void Proceed(bool ok) override;
    // To be called when the count has changed.
    void Check();
    absl::Notification& reached() { return reached_; }

   private:
    const int64_t& count_;
    bool is_awaited_ = false;
    absl::Notification reached_;
  };

  // Shuts the queue down on its own thread, where no call can be about to use it.
  class End final : public CallStep {
   public:
    explicit End(CallQueue& queue) : queue_(queue) {}
    void Proceed(bool ok) override;

   private:
    CallQueue& queue_;
  };

  void Run();
  void RunWithRests();

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  CallCounters& counters_;
  const ServerAccess& access_;
  Mailbox mailbox_{*this};
  End end_{*this};

  // Used by the queue's thread only.
  std::vector<CallStep*> running_;
  int64_t calls_ = 0;
  int64_t work_ = 0;
  int64_t sending_ = 0;
  bool ending_ = false;

  Awaited no_work_{work_};
  Awaited nothing_to_send_{sending_};

  Mutex mutex_;
  std::vector<CallStep*> posted_ ABSL_GUARDED_BY(mutex_);

  // Wakes the queue's thread. Set only by the first to post since it last fired, so by one thread
  // at a time.
  grpc::Alarm alarm_;

  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_CALL_QUEUE_H_
