#ifndef TTL_SERVICE_EXPIRY_STORE_PRIMARY_STORE_CLIENT_H_
#define TTL_SERVICE_EXPIRY_STORE_PRIMARY_STORE_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/status.h"
#include "service/base/mutex.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// The client of PrimaryStoreService. Each call has a deadline. Nothing is queued or retried below
// the caller: a call fails at once while there is no connection, and gRPC retries are off. A lost
// connection is re-established within a second.
//
// There is deliberately no interface to mock: tests run this class against a scripted server on a
// Unix socket, so that deadlines, errors and cancellation are real.
//
// A half-open connection, such as one that a middlebox dropped silently, is detected by the first
// call that exceeds its deadline while no other call was answered: later calls use a new
// connection. gRPC's keepalive cannot detect it, because it pings only while calls are in flight,
// and these may all end before the first ping.
//
// A thread completes the calls. It polls gRPC only while some are in flight, because threads that
// poll all the time slow down the gRPC server in the same process.
//
// Thread-safe.
class PrimaryStoreClient {
 public:
  // Called exactly once: on the completion thread, which it must not block, or on the calling
  // thread if the call is refused at once. An error carries the code of the call and, if the store
  // gave one, a retry delay (RetryAfterOf); whether the request was carried out is then unknown.
  // CANCELLED after Cancel().
  template <typename Response>
  using Answer = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  // `address` is any gRPC address, such as "unix:/run/store.sock" or "dns:///store:50051".
  // `server_name`, if not empty, is the name expected in the store's certificate instead of the
  // host of `address`. Connects with the first call.
  PrimaryStoreClient(const std::string& address,
                     const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                     const std::string& server_name = "");

  // Cancels the calls in flight and waits for their callbacks. No ScanItems() may be running.
  ~PrimaryStoreClient();

  void GetStoreInfo(absl::Duration deadline, Answer<v1::GetStoreInfoResponse> answer);

  // `request` must live until `answer` is called. `trace_parent` goes with the call as its W3C
  // trace context.
  void DeleteItems(const v1::DeleteItemsRequest& request, const std::string& trace_parent,
                   absl::Duration deadline, Answer<v1::DeleteItemsResponse> answer);

  // Reads a stream of items, blocking the calling thread. `take` gets each message and returns
  // whether to continue. Returns the status of the stream, DEADLINE_EXCEEDED after `deadline`, or
  // OK if `take` ended it.
  absl::Status ScanItems(const v1::ScanItemsRequest& request, absl::Duration deadline,
                         absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take);

  // For shutdown: cancels all calls in flight and refuses later ones with CANCELLED.
  void Cancel();

 private:
  // A channel, which has one connection at a time.
  struct Link;
  // The link of a call, and the state of the link when the call began.
  struct CallStart {
    std::shared_ptr<Link> link;
    uint64_t answers = 0;  // received over the link by then
  };
  // A call in flight. Its address is the tag of its completion.
  struct AnyCall {
    virtual ~AnyCall() = default;
    virtual void End() = 0;  // runs the callback
    virtual grpc::StatusCode code() const = 0;
    grpc::ClientContext context;
    CallStart start;
  };
  template <typename Response>
  struct Call;

  // Starts a call of `method`, a method of the asynchronous stub; an empty `trace_parent` is not
  // sent.
  template <typename Request, typename Response, typename Method>
  void Start(Method method, const Request& request, const std::string& trace_parent,
             absl::Duration deadline, Answer<Response> answer);
  // Registers a call for cancellation until Leave(). Returns false after Cancel().
  bool Enter(AnyCall& call);
  void Leave(AnyCall& call);
  bool EnterScan(grpc::ClientContext& context);
  void LeaveScan(grpc::ClientContext& context);

  // The completion thread: ends after Cancel(), when all calls have ended.
  void EndCalls();
  bool AwaitCalls();

  std::shared_ptr<Link> NewLink() const;
  CallStart BeginOnLink();
  // A call ended with `code`. Replaces its link if the call timed out and nothing was received over
  // the link since it began.
  void NoteEnd(const CallStart& start, grpc::StatusCode code);

  const std::string address_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const std::string server_name_;
  grpc::CompletionQueue queue_;

  Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<Link> link_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<AnyCall*> in_flight_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<grpc::ClientContext*> scans_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_PRIMARY_STORE_CLIENT_H_
