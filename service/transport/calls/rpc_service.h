#ifndef TTL_SERVICE_TRANSPORT_CALLS_RPC_SERVICE_H_
#define TTL_SERVICE_TRANSPORT_CALLS_RPC_SERVICE_H_

#include <google/protobuf/descriptor.h>

namespace ttl {

class MethodTable;

// A service of the API, apart from the addresses it is served on. One more is one more
// object in the server's list.
class RpcService {
 public:
  virtual ~RpcService() = default;

  // What the .proto file says of it. Lives as long as the process.
  virtual const google::protobuf::ServiceDescriptor& descriptor() const = 0;

  // Adds each method of the service to `table`; called once for each queue that calls are
  // accepted on, by one thread at a time. This must outlive the queues.
  virtual void AddMethods(MethodTable& table) = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_RPC_SERVICE_H_
