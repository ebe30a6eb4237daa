#ifndef TTL_SERVICE_TRANSPORT_REFLECTION_SERVICE_H_
#define TTL_SERVICE_TRANSPORT_REFLECTION_SERVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "service/transport/calls/rpc_service.h"

namespace ttl {

// Returns the gRPC server reflection services, v1 and v1alpha, for clients such as grpcurl. They
// replace the service built into gRPC, whose threads poll for all calls of the process and which
// cannot check roles. `services` are the full names of all other services served. Thread-safe once
// they accept calls.
std::vector<std::unique_ptr<RpcService>> NewReflectionServices(std::vector<std::string> services);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_REFLECTION_SERVICE_H_
