#ifndef TTL_SERVICE_EXPIRY_PRIMARY_STORE_CLIENT_H_
#define TTL_SERVICE_EXPIRY_PRIMARY_STORE_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/security/credentials.h"
#include "service/core/mutex.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {

// The sidecar's side of PrimaryStoreService: calls that do not wait, each with a
// deadline. Nothing is queued or repeated below the caller: a call fails at once while
// there is no connection, and gRPC retries nothing. A lost connection is tried again
// within a second.
//
// There is no interface in between: tests run this very client against a scripted
// server on a Unix socket, so that deadlines, errors and cancellation are real.
//
// Thread-safe.
class PrimaryStoreClient {
 public:
  // Called exactly once: on a thread of gRPC, which it must not block, or on the
  // calling thread if the call is refused at once. An error carries the code of the
  // call and, if the store said so, how long to wait (RetryAfterOf); after one the
  // fate of the request is unknown. CANCELLED after Cancel().
  template <typename Response>
  using Answer = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  // `address` is any gRPC address, such as "unix:/run/store.sock" or
  // "dns:///store:50051". Does not connect yet.
  PrimaryStoreClient(const std::string& address,
                     const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Cancels what is under way and waits for it.
  ~PrimaryStoreClient();

  void GetStoreInfo(absl::Duration deadline, Answer<v1::GetStoreInfoResponse> answer);

  // `request` must live until `answer` is called.
  void DeleteItems(const v1::DeleteItemsRequest& request, absl::Duration deadline,
                   Answer<v1::DeleteItemsResponse> answer);

  // For shutdown: ends all calls under way and refuses all later ones.
  void Cancel();

 private:
  template <typename Response>
  struct Call;

  // Starts a call by `method`, a method of the asynchronous stub.
  template <typename Request, typename Response, typename Method>
  void Start(Method method, const Request& request, absl::Duration deadline,
             Answer<Response> answer);
  // A call begins, unless all are cancelled; its context can be cancelled until it is
  // forgotten; and the call ends, which the destructor waits for.
  bool Enter(grpc::ClientContext* context);
  void Forget(grpc::ClientContext* context);
  void Leave();

  const std::unique_ptr<v1::PrimaryStoreService::Stub> stub_;

  Mutex mutex_;
  CondVar left_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<grpc::ClientContext*> under_way_ ABSL_GUARDED_BY(mutex_);
  int64_t running_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PRIMARY_STORE_CLIENT_H_
