#include "client/cpp/checks/visibility_answers.h"

#include "client/cpp/checks/wrong_length.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

v1::Visibility KnownOrVisible(int value) {
  switch (value) {
    case v1::VISIBILITY_EXPIRED:
      return v1::VISIBILITY_EXPIRED;
    case v1::VISIBILITY_UNTRACKED:
      return v1::VISIBILITY_UNTRACKED;
    default:
      return v1::VISIBILITY_VISIBLE;
  }
}

}  // namespace

absl::StatusOr<std::vector<VisibilityAnswer>> ToVisibilityAnswers(
    absl::string_view method, const v1::CheckVisibilityResponse& response, size_t checks) {
  if (static_cast<size_t>(response.visibilities_size()) != checks) {
    return WrongLength(method, "visibilities", response.visibilities_size(), checks);
  }
  if (static_cast<size_t>(response.expire_times_size()) != checks) {
    return WrongLength(method, "expire times", response.expire_times_size(), checks);
  }
  const absl::Time judged_at = ToTime(response.judged_at());
  std::vector<VisibilityAnswer> answers(checks);
  for (size_t i = 0; i < checks; ++i) {
    const int64_t expire_time = response.expire_times(static_cast<int>(i));
    answers[i].visibility = KnownOrVisible(response.visibilities(static_cast<int>(i)));
    if (expire_time != 0) answers[i].expire_time = expire_time;
    answers[i].judged_at = judged_at;
  }
  return answers;
}

}  // namespace ttl
