#include "service/base/proto_time.h"

#include <algorithm>
#include <cstdint>

namespace ttl {
namespace {

// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
constexpr int64_t kMinTimestampSeconds = -62135596800;
constexpr int64_t kMaxTimestampSeconds = 253402300799;
constexpr int64_t kMaxDurationSeconds = 315576000000;

}  // namespace

google::protobuf::Timestamp ToProto(absl::Time time) {
  const absl::Time clamped = std::clamp(time, absl::FromUnixSeconds(kMinTimestampSeconds),
                                        absl::FromUnixSeconds(kMaxTimestampSeconds));
  const int64_t seconds = absl::ToUnixSeconds(clamped);
  google::protobuf::Timestamp proto;
  proto.set_seconds(seconds);
  proto.set_nanos(
      static_cast<int32_t>((clamped - absl::FromUnixSeconds(seconds)) / absl::Nanoseconds(1)));
  return proto;
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  absl::Duration rest =
      std::clamp(duration, absl::Seconds(-kMaxDurationSeconds), absl::Seconds(kMaxDurationSeconds));
  google::protobuf::Duration proto;
  proto.set_seconds(absl::IDivDuration(rest, absl::Seconds(1), &rest));
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return proto;
}

}  // namespace ttl
