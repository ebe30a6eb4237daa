#ifndef TTL_SERVICE_TRANSPORT_CALLS_QUEUED_METHOD_H_
#define TTL_SERVICE_TRANSPORT_CALLS_QUEUED_METHOD_H_

#include <google/protobuf/descriptor.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ttl {

// A method of a service, served on one CallQueue. Must be destroyed after the queue.
class QueuedMethod {
 public:
  virtual ~QueuedMethod() = default;

  // Before the server stops, on the queue's thread: ends open streams, and refuses later ones, with
  // `status`. Unary calls end by themselves.
  virtual void EndStreams(const absl::Status& /*status*/) {}
};

// The name under which a method is counted, authorized and logged, such as "ItemService/GetItem".
inline std::string NameOf(const google::protobuf::MethodDescriptor& method) {
  return absl::StrCat(method.service()->name(), "/", method.name());
}

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_QUEUED_METHOD_H_
