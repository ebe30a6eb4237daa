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

// The sidecar's side of PrimaryStoreService: calls that do not wait, each with a
// deadline. Nothing is queued or repeated below the caller: a call fails at once while
// there is no connection, and gRPC retries nothing. A lost connection is tried again
// within a second.
//
// There is no interface in between: tests run this very client against a scripted
// server on a Unix socket, so that deadlines, errors and cancellation are real.
//
// A connection that is dead without a word, as after a middle box forgot it, is noticed by the
// first call that passes its deadline while nothing was answered: the next one uses a new
// connection. gRPC's keep-alive does not do: it pings only while calls are under way, and theirs
// may all end before its time comes.
//
// Calls are ended by a thread that polls gRPC only while some are under way: threads that
// poll all the time slow down the server's calls of the same process.
//
// Thread-safe.
class PrimaryStoreClient {
 public:
  // Called exactly once: on the thread that ends calls, which it must not block, or on
  // the calling thread if the call is refused at once. An error carries the code of the
  // call and, if the store said so, how long to wait (RetryAfterOf); after one the
  // fate of the request is unknown. CANCELLED after Cancel().
  template <typename Response>
  using Answer = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  // `address` is any gRPC address, such as "unix:/run/store.sock" or
  // "dns:///store:50051". `server_name`, if not empty, is the name that the store's
  // certificate must have, in place of the host of `address`. Does not connect yet.
  PrimaryStoreClient(const std::string& address,
                     const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                     const std::string& server_name = "");

  // Cancels what is under way and waits for it.
  ~PrimaryStoreClient();

  void GetStoreInfo(absl::Duration deadline, Answer<v1::GetStoreInfoResponse> answer);

  // `request` must live until `answer` is called.
  void DeleteItems(const v1::DeleteItemsRequest& request, absl::Duration deadline,
                   Answer<v1::DeleteItemsResponse> answer);

  // Reads a stream of items, on the calling thread, which waits: `take` gets each message
  // and says whether to go on. Not OK if the stream ended so or took longer than
  // `deadline`; OK if `take` ended it.
  absl::Status ScanItems(const v1::ScanItemsRequest& request, absl::Duration deadline,
                         absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take);

  // For shutdown: ends all calls under way and refuses all later ones.
  void Cancel();

 private:
  // A channel, which has one connection at a time.
  struct Link;
  // What a call goes by.
  struct Passage {
    std::shared_ptr<Link> link;
    uint64_t answers = 0;  // that had come over the link when the call began
  };
  // A call under way, and the tag of its end.
  struct AnyCall {
    virtual ~AnyCall() = default;
    virtual void End() = 0;  // answers it
    virtual grpc::StatusCode code() const = 0;
    grpc::ClientContext context;
    Passage passage;
  };
  template <typename Response>
  struct Call;

  // Starts a call by `method`, a method of the asynchronous stub.
  template <typename Request, typename Response, typename Method>
  void Start(Method method, const Request& request, absl::Duration deadline,
             Answer<Response> answer);
  // A call begins, unless all are cancelled, and can be cancelled until it leaves.
  bool Enter(AnyCall& call);
  void Leave(AnyCall& call);
  bool EnterScan(grpc::ClientContext& context);
  void LeaveScan(grpc::ClientContext& context);

  // Ends calls until all are cancelled and have ended.
  void EndCalls();
  bool AwaitCalls();

  std::shared_ptr<Link> NewLink() const;
  Passage TakePassage();
  // A call that went by `passage` ended so: a link over which nothing was answered since it began
  // is replaced.
  void NoteEnd(const Passage& passage, grpc::StatusCode code);

  const std::string address_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const std::string server_name_;
  grpc::CompletionQueue queue_;

  Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<Link> link_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<AnyCall*> under_way_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<grpc::ClientContext*> scans_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_PRIMARY_STORE_CLIENT_H_
