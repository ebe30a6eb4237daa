#include "service/rpc/mapping/forecast_query.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

constexpr int64_t kDefaultForecastSeconds = 86400;
constexpr int64_t kDefaultSteps = 24;

absl::StatusOr<std::optional<std::string>> ReadForecastTarget(
    const v1::GetForecastRequest& request) {
  using Request = v1::GetForecastRequest;
  switch (request.target_case()) {
    case Request::kContainer:
      return request.container();
    case Request::kAllContainers:
      if (request.all_containers()) return std::nullopt;
      return InvalidField("all_containers",
                          "all_containers is false: must be true, or name a container instead");
    case Request::TARGET_NOT_SET:
      break;
  }
  return InvalidField("target", "target is absent: must be a container or all_containers");
}

absl::StatusOr<int64_t> ReadUntil(const v1::GetForecastRequest& request, int64_t now_seconds) {
  if (!request.has_until()) return now_seconds + kDefaultForecastSeconds;
  const absl::Time until = FromProto(request.until());
  const int64_t seconds = absl::ToUnixSeconds(until);
  if (seconds > now_seconds && seconds <= kMaxExpireAt) return seconds;
  return InvalidField("until",
                      absl::StrCat("until is ", TimeText(until),
                                   ": must be later than the sidecar's clock, which shows ",
                                   TimeText(absl::FromUnixSeconds(now_seconds)),
                                   ", and at most the end of the year 9999"));
}

absl::StatusOr<int64_t> ReadStep(const v1::GetForecastRequest& request, int64_t forecast_seconds) {
  if (!request.has_step()) return (forecast_seconds + kDefaultSteps - 1) / kDefaultSteps;
  const absl::Duration step = FromProto(request.step());
  const int64_t seconds = absl::ToInt64Seconds(step);
  const int64_t least =
      std::max<int64_t>(1, (forecast_seconds + kMaxForecastSteps - 1) / kMaxForecastSteps);
  if (seconds >= least && step == absl::Seconds(seconds)) return seconds;
  return InvalidField(
      "step",
      absl::StrCat("step is ", absl::FormatDuration(step), ": must be whole seconds, at least ",
                   least, " for a forecast of ", forecast_seconds, " seconds, which has at most ",
                   kMaxForecastSteps, " steps"));
}

std::vector<int64_t> StepTimes(int64_t now_seconds, int64_t until, int64_t step) {
  std::vector<int64_t> times = {now_seconds};
  // Steps may be as long as an int64_t can say, so the rest is compared instead of the sum.
  while (until - times.back() > step) times.push_back(times.back() + step);
  times.push_back(until);
  return times;
}

}  // namespace

absl::StatusOr<ForecastQuery> ReadForecastQuery(const v1::GetForecastRequest& request,
                                                absl::Time now) {
  const int64_t now_seconds = absl::ToUnixSeconds(now);
  ForecastQuery query;
  TTL_ASSIGN_OR_RETURN(query.container, ReadForecastTarget(request));
  TTL_ASSIGN_OR_RETURN(const int64_t until, ReadUntil(request, now_seconds));
  TTL_ASSIGN_OR_RETURN(const int64_t step, ReadStep(request, until - now_seconds));
  query.times = StepTimes(now_seconds, until, step);
  if (!request.has_default_ttl()) return query;
  query.default_ttl = request.default_ttl();
  TTL_RETURN_IF_ERROR(OfField("default_ttl", ValidateTtl("default_ttl", query.default_ttl)));
  if (query.container.has_value()) return query;
  return InvalidField(
      "default_ttl",
      absl::StrCat("default_ttl is ", *query.default_ttl,
                   " and all_containers is set: name one container, or leave default_ttl out"));
}

}  // namespace ttl
