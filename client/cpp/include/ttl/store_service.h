#ifndef TTL_STORE_SERVICE_H_
#define TTL_STORE_SERVICE_H_

#include <memory>

#include "grpcpp/impl/service_type.h"
#include "ttl/primary_store.h"

namespace ttl {

// The PrimaryStoreService of `store`, for a gRPC server of the caller's own; StoreServer needs
// none. `store` must outlive it. Thread-safe.
std::unique_ptr<grpc::Service> NewStoreService(PrimaryStore& store);

}  // namespace ttl

#endif  // TTL_STORE_SERVICE_H_
