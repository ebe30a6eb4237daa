#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PROTO_TIME_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/timestamp.pb.h"

namespace documentstore {

inline google::protobuf::Timestamp ToProto(absl::Time time) {
  google::protobuf::Timestamp proto;
  proto.set_seconds(absl::ToUnixSeconds(time));
  proto.set_nanos(
      static_cast<int32_t>((time - absl::FromUnixSeconds(proto.seconds())) / absl::Nanoseconds(1)));
  return proto;
}

inline absl::Time FromProto(const google::protobuf::Timestamp& proto) {
  return absl::FromUnixSeconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PROTO_TIME_H_
