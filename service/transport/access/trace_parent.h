#ifndef TTL_SERVICE_TRANSPORT_ACCESS_TRACE_PARENT_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_TRACE_PARENT_H_

#include <grpcpp/server_context.h>

#include "absl/strings/string_view.h"

namespace ttl {

// Key of the metadata by which a caller says which trace a call belongs to.
inline constexpr char kTraceParentKey[] = "traceparent";

// The trace id of a value of that key, by the Trace Context recommendation of the W3C
// (https://www.w3.org/TR/trace-context/); empty if the value is not valid. A version
// newer than ours is read as far as ours goes, as the recommendation asks for.
absl::string_view TraceIdOf(absl::string_view trace_parent);

// That of a call; empty if it carries none, or more than one.
absl::string_view TraceIdOf(const grpc::ServerContextBase& context);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_TRACE_PARENT_H_
