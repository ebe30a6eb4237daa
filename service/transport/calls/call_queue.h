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

// A completion queue with the one thread that polls it. Everything about a call
// of gRPC's asynchronous API happens on the thread of its queue, so calls need no
// locks. Every tag used on the queue is a CallStep.
//
// Threads that wait in gRPC take turns at polling for all of them, so that each further one
// costs the calls of the others, though none may be its own. The thread of a queue that is
// of less weight therefore waits outside of gRPC while it has nothing to do.
class CallQueue {
 public:
  enum class WhenIdle {
    kWait,  // in gRPC: what comes is handled at once
    kRest,  // and look every few milliseconds
  };

  // `accept_calls` begins to accept calls on the queue; then the thread starts. Calls are
  // counted in `counters`, and admitted as `access`, of the queue's server, says; both
  // must outlive the queue.
  CallQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue, CallCounters& counters,
            const ServerAccess& access, WhenIdle when_idle,
            absl::FunctionRef<void(CallQueue&)> accept_calls);

  // Waits until all calls have ended, then ends the thread. REQUIRES: the server's
  // Shutdown() has returned, so that no call comes any more.
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  grpc::ServerCompletionQueue& queue() { return *queue_; }
  const ServerAccess& access() const { return access_; }
  CallCounters& counters() { return counters_; }

  // A call begins, and will use the queue again, until it ends: a server that shuts down
  // does not wait for calls that others still work on. On the queue's thread.
  void BeginCall() { ++calls_; }
  void EndCall();

  // An answer is being worked out, which ends by itself however long it takes. On the
  // queue's thread.
  void BeginWork() { ++work_; }
  void EndWork();

  // Returns when no answer is being worked out any more, which is so at some instant
  // after the call. On any thread but the queue's; once.
  void AwaitWork();

  // An answer to a caller that was admitted is being sent, or a stream is open: that lasts until
  // the client has taken what is for it. On the queue's thread.
  void BeginSending() { ++sending_; }
  void EndSending();

  // Returns when nothing is being sent any more, which is so at some instant after the call, or
  // at `deadline`. On any thread but the queue's; once, and after AwaitWork().
  void AwaitSending(absl::Time deadline);

  // Whether the caller runs on the queue's thread.
  bool IsOwnThread() const;

  // Has `step` run on the queue's thread. Any thread may post; what is posted in
  // a burst costs one wake-up.
  void Post(CallStep& step);

 private:
  // Runs what was posted.
  class Mailbox final : public CallStep {
   public:
    explicit Mailbox(CallQueue& queue) : queue_(queue) {}
    void Proceed(bool ok) override;

   private:
    CallQueue& queue_;
  };

  // Tells another thread when a count of the queue's thread is down to 0. The count is looked at
  // on the queue's own thread.
  class Awaited final : public CallStep {
   public:
    explicit Awaited(const int64_t& count) : count_(count) {}
    void Proceed(bool ok) override;
    // When the count has changed.
    void Look();
    absl::Notification& reached() { return reached_; }

   private:
    const int64_t& count_;
    bool is_awaited_ = false;
    absl::Notification reached_;
  };

  // Ends the queue on its own thread, where no call can be about to use it.
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

  // For the thread alone.
  std::vector<CallStep*> running_;
  int64_t calls_ = 0;
  int64_t work_ = 0;
  int64_t sending_ = 0;
  bool ending_ = false;

  Awaited no_work_{work_};
  Awaited nothing_to_send_{sending_};

  Mutex mutex_;
  std::vector<CallStep*> posted_ ABSL_GUARDED_BY(mutex_);

  // Rings in the queue when something is posted. Set only by who posts first after it
  // rang, so by one at a time.
  grpc::Alarm bell_;

  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_CALL_QUEUE_H_
