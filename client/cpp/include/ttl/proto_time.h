#ifndef TTL_PROTO_TIME_H_
#define TTL_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace ttl {

absl::Time ToTime(const google::protobuf::Timestamp& timestamp);
absl::Duration ToDuration(const google::protobuf::Duration& duration);

// Exact to the nanosecond inside the years 1 to 9999, which is what a
// Timestamp can hold.
google::protobuf::Timestamp ToTimestamp(absl::Time time);

}  // namespace ttl

#endif  // TTL_PROTO_TIME_H_
