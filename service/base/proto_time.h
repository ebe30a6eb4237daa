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

// Converts from a Timestamp and from a Duration.
inline absl::Time FromProto(const google::protobuf::Timestamp& proto) {
  return absl::FromUnixSeconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}
inline absl::Duration FromProto(const google::protobuf::Duration& proto) {
  return absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_PROTO_TIME_H_
