#ifndef TTL_CLIENT_POSTGRES_STORE_SERVED_STORE_H_
#define TTL_CLIENT_POSTGRES_STORE_SERVED_STORE_H_

#include <set>

#include "absl/base/thread_annotations.h"
#include "client/postgres/store/primary_store.h"
#include "grpcpp/server_context.h"
#include "service/base/mutex.h"

namespace ttl::postgres {

// Holds the current store, if any, and the calls that use it. Thread-safe.
class ServedStore {
 public:
  // REQUIRES: no store is set.
  void Set(PrimaryStore& store);
  // Returns once no call uses the store. Running calls have a second to end; after that, they are
  // cancelled and their database connections are closed.
  void Withdraw();

  // Returns the store for the call of `context`, to be followed by Release(); null if there is
  // none.
  PrimaryStore* Take(grpc::ServerContext& context);
  void Release(grpc::ServerContext& context);

 private:
  // Takes the store away, and cancels the calls that still use it after a second. Returns the store
  // if there are any.
  PrimaryStore* CancelCalls();

  Mutex mutex_;
  CondVar released_;
  PrimaryStore* store_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::set<grpc::ServerContext*> calls_ ABSL_GUARDED_BY(mutex_);  // that use it
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_SERVED_STORE_H_
