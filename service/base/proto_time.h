#ifndef TTL_SERVICE_BASE_PROTO_TIME_H_
#define TTL_SERVICE_BASE_PROTO_TIME_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "absl/time/time.h"

namespace ttl {

// `time` as the API says it. Instants outside the years 1 to 9999, which a
// Timestamp cannot say, become the nearest one it can.
google::protobuf::Timestamp ToProto(absl::Time time);

// `duration` as the API says it; at most 10,000 years either way.
google::protobuf::Duration ToProto(absl::Duration duration);

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_PROTO_TIME_H_
