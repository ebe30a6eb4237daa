#include "service/rpc/visibility.h"

#include "service/core/status_macros.h"
#include "service/rpc/proto_time.h"

namespace ttl {
namespace {

std::optional<ItemTimes> CarriedTimes(const v1::VisibilityCheck& check) {
  if (!check.has_ts()) return std::nullopt;
  ItemTimes times{check.ts(), std::nullopt};
  if (check.has_ttl()) times.ttl = check.ttl();
  return times;
}

bool IsPossible(const ItemTimes& times, absl::Time now) {
  return IsLegalTs(times.ts, now) && (!times.ttl.has_value() || IsLegalTtl(*times.ttl));
}

// The state to judge; absent if there is none.
absl::StatusOr<std::optional<ItemTimes>> NewestTimes(FindItemTimes find,
                                                     const v1::VisibilityCheck& check,
                                                     const std::optional<ItemTimes>& carried) {
  auto tracked = find(check.partition_key(), check.id());
  if (!carried.has_value()) return tracked;
  const bool tracked_is_newer =
      tracked.ok() && tracked->has_value() && (*tracked)->ts > carried->ts;
  return tracked_is_newer ? *tracked : carried;
}

void AddAnswer(v1::Visibility visibility, std::optional<int64_t> expire_time,
               v1::CheckVisibilityResponse& response) {
  response.add_visibilities(visibility);
  response.add_expire_times(expire_time.value_or(0));
}

void AddJudgement(const std::optional<int64_t>& default_ttl, const std::optional<ItemTimes>& times,
                  absl::Time now, v1::CheckVisibilityResponse& response) {
  if (!times.has_value()) return AddAnswer(v1::VISIBILITY_UNTRACKED, std::nullopt, response);
  const std::optional<int64_t> expire_time = ExpireTime(default_ttl, *times);
  AddAnswer(IsExpiredAt(expire_time, now) ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE,
            expire_time, response);
}

}  // namespace

absl::Status JudgeChecks(const Container& container, FindItemTimes find, absl::Time now,
                         const v1::CheckVisibilityRequest& request,
                         v1::CheckVisibilityResponse& response, int64_t& impossible) {
  response.mutable_visibilities()->Reserve(request.checks_size());
  response.mutable_expire_times()->Reserve(request.checks_size());
  *response.mutable_judged_at() = ToProto(now);
  for (const v1::VisibilityCheck& check : request.checks()) {
    const std::optional<ItemTimes> carried = CarriedTimes(check);
    if (carried.has_value() && !IsPossible(*carried, now)) {
      ++impossible;
      AddAnswer(v1::VISIBILITY_VISIBLE, std::nullopt, response);
      continue;
    }
    TTL_ASSIGN_OR_RETURN(const std::optional<ItemTimes> times, NewestTimes(find, check, carried));
    AddJudgement(container.settings.policy.default_ttl, times, now, response);
  }
  return absl::OkStatus();
}

}  // namespace ttl
