#ifndef TTL_SERVICE_TRANSPORT_CALLS_RPC_SERVICE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_RPC_SERVICE_H_

#include <google/protobuf/descriptor.h>

namespace ttl {

class MethodTable;

// A gRPC service, independent of the addresses on which it is served. The composition root lists
// the services.
class RpcService {
 public:
  virtual ~RpcService() = default;

  // The descriptor of the service, which lives as long as the process.
  virtual const google::protobuf::ServiceDescriptor& descriptor() const = 0;

  // Adds all methods of the service to `table`. Called once for each queue, by one thread at a
  // time. This must outlive the queues.
  virtual void AddMethods(MethodTable& table) = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_RPC_SERVICE_H_
