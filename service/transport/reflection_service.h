#ifndef TTL_SERVICE_TRANSPORT_REFLECTION_SERVICE_H_
#define TTL_SERVICE_TRANSPORT_REFLECTION_SERVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "service/transport/calls/rpc_service.h"

namespace ttl {

// Tell clients such as grpcurl which services there are and what their messages look
// like, under both names of gRPC's protocol. In place of the one that comes with gRPC,
// which brings threads that poll for all calls of the process, and cannot be told who
// may ask. `services` are the full names of all other services that are served. Thread-safe
// once they accept calls.
std::vector<std::unique_ptr<RpcService>> NewReflectionServices(std::vector<std::string> services);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_REFLECTION_SERVICE_H_
