#ifndef TTL_SERVICE_TRANSPORT_ACCESS_TRACE_PARENT_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_TRACE_PARENT_H_

#include <grpcpp/server_context.h>

#include "absl/strings/string_view.h"

namespace ttl {

// Metadata key of the trace context of a call.
inline constexpr char kTraceParentKey[] = "traceparent";

// The trace id in a value of that key, by W3C Trace Context (https://www.w3.org/TR/trace-context/);
// empty if the value is not valid. Of a newer version the fields of version 00 are read, as the
// recommendation requires.
absl::string_view TraceIdOf(absl::string_view trace_parent);

// The trace id of a call; empty if it has no traceparent, or more than one.
absl::string_view TraceIdOf(const grpc::ServerContextBase& context);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_TRACE_PARENT_H_
