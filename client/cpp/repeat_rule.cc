#include "client/cpp/repeat_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"

namespace ttl {
namespace {

constexpr int kMaxAttempts = 4;
constexpr absl::Duration kFirstRepeatPause = absl::Milliseconds(50);
constexpr absl::Duration kMaxRepeatPause = absl::Milliseconds(500);

std::optional<absl::Duration> HintOf(const grpc::ClientContext& context) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto hint = metadata.find("grpc-retry-pushback-ms");
  if (hint == metadata.end()) return std::nullopt;
  int64_t milliseconds;
  if (!absl::SimpleAtoi(std::string(hint->second.data(), hint->second.size()), &milliseconds)) {
    return std::nullopt;
  }
  return milliseconds < 0 ? absl::InfiniteDuration() : absl::Milliseconds(milliseconds);
}

bool MayRepeat(CallKind kind, const FailedAttempt& failure, bool until_deadline) {
  if (kind == CallKind::kChange || kind == CallKind::kNow) return false;
  const bool is_among_first = failure.number < kMaxAttempts;
  switch (failure.code) {
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return kind != CallKind::kRead && kind != CallKind::kHold && is_among_first;
    case grpc::StatusCode::UNAVAILABLE:
      if (kind == CallKind::kReport && !failure.hint.has_value()) return false;
      return until_deadline || is_among_first;
    default:
      return false;
  }
}

}  // namespace

FailedAttempt FailureOf(const grpc::ClientContext& context, const grpc::Status& status,
                        int number) {
  const bool is_stopping = status.error_code() == grpc::StatusCode::CANCELLED;
  return {is_stopping ? grpc::StatusCode::UNAVAILABLE : status.error_code(), HintOf(context),
          number};
}

std::optional<absl::Duration> PauseBeforeRepeat(CallKind kind, const FailedAttempt& failure,
                                                bool until_deadline, absl::Duration left,
                                                double random) {
  if (!MayRepeat(kind, failure, until_deadline)) return std::nullopt;
  const absl::Duration grown =
      std::min(kFirstRepeatPause * std::exp2(std::min(failure.number - 1, 10)), kMaxRepeatPause);
  const absl::Duration pause = failure.hint.value_or(grown * (0.5 + random / 2));
  if (pause >= left) return std::nullopt;
  return pause;
}

}  // namespace ttl
