#ifndef TTL_SERVICE_BASE_PROTO_TIME_H_
#define TTL_SERVICE_BASE_PROTO_TIME_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "absl/time/time.h"

namespace ttl {

// Converts to a Timestamp. Times outside of the years 1 to 9999, which a Timestamp cannot hold, are
// clamped.
google::protobuf::Timestamp ToProto(absl::Time time);

// Converts to a Duration, clamped to 10,000 years either way.
google::protobuf::Duration ToProto(absl::Duration duration);

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_PROTO_TIME_H_
