#ifndef TTL_SERVICE_EXPIRY_PRIMARY_STORE_CLIENT_H_
#define TTL_SERVICE_EXPIRY_PRIMARY_STORE_CLIENT_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/security/credentials.h"
#include "service/core/mutex.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {

// The sidecar's side of PrimaryStoreService: blocking calls, each with a deadline.
// Nothing is queued or repeated below the caller: a call fails at once while there
// is no connection, and gRPC retries nothing. A lost connection is tried again
// within a second.
//
// There is no interface in between: tests run this very client against a scripted
// server on a Unix socket, whose hooks run while the caller waits, so that they are
// as deterministic as with a fake, and deadlines, errors and cancellation are real.
//
// One thread makes the calls; Cancel() may be called by any.
class PrimaryStoreClient {
 public:
  // `address` is any gRPC address, such as "unix:/run/store.sock" or
  // "dns:///store:50051". Does not connect yet.
  PrimaryStoreClient(const std::string& address,
                     const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Errors carry the code of the call. After one the fate of the request is
  // unknown. CANCELLED after Cancel().
  absl::StatusOr<v1::GetStoreInfoResponse> GetStoreInfo(absl::Duration deadline);
  absl::StatusOr<v1::DeleteItemsResponse> DeleteItems(const v1::DeleteItemsRequest& request,
                                                      absl::Duration deadline);

  // For shutdown: ends the call under way and refuses all later ones.
  void Cancel();

 private:
  // Runs `call` with a context that Cancel() can reach.
  template <typename Response, typename Call>
  absl::StatusOr<Response> Run(absl::Duration deadline, Call call);

  const std::unique_ptr<v1::PrimaryStoreService::Stub> stub_;

  Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* under_way_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PRIMARY_STORE_CLIENT_H_
