#ifndef TTL_CLIENT_POSTGRES_STORE_SERVED_STORE_H_
#define TTL_CLIENT_POSTGRES_STORE_SERVED_STORE_H_

#include <condition_variable>
#include <mutex>
#include <set>

#include "client/postgres/store/primary_store.h"
#include "grpcpp/server_context.h"

namespace ttl::postgres {

// The store that calls are for, if there is one, and which of them have it. Thread-safe.
class ServedStore {
 public:
  // No other may be there.
  void Set(PrimaryStore& store);
  // No call has it any more when this returns. Those that do have a second to end; then they are
  // cancelled, and their connections to the database are cut.
  void Withdraw();

  // The store for the call of `context`; null if there is none, else Release() is to follow.
  PrimaryStore* Take(grpc::ServerContext& context);
  void Release(grpc::ServerContext& context);

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  // Both guarded by mutex_.
  PrimaryStore* store_ = nullptr;
  std::set<grpc::ServerContext*> calls_;  // that have it
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_SERVED_STORE_H_
