#include "service/rpc/checks/visibility.h"

#include "service/base/status_macros.h"

namespace ttl {
namespace {

// The state to judge; absent if there is none.
FoundTimes NewestTimes(const Check& check, const FoundTimes& tracked) {
  if (!check.carried.has_value()) return tracked;
  const bool tracked_is_newer =
      tracked.ok() && tracked->has_value() && (*tracked)->ts > check.carried->ts;
  return tracked_is_newer ? *tracked : check.carried;
}

void AddJudgement(const std::optional<int64_t>& default_ttl, const std::optional<ItemTimes>& times,
                  absl::Time now, CheckAnswers& answers) {
  if (!times.has_value()) return answers.Add(v1::VISIBILITY_UNTRACKED, std::nullopt);
  const std::optional<int64_t> expire_time = ExpireTime(default_ttl, *times);
  answers.Add(IsExpiredAt(expire_time, now) ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE,
              expire_time);
}

}  // namespace

absl::Status JudgeChecks(const Container& container, FindItemTimes find, absl::Time now,
                         absl::Span<const Check> checks, CheckAnswers& answers,
                         ImpossibleChecks& impossible) {
  // Reused by the thread, so that a call allocates nothing.
  thread_local std::vector<KeyView> keys;
  thread_local std::vector<FoundTimes> tracked;
  keys.clear();
  for (const Check& check : checks) keys.push_back({check.partition_key, check.id});
  find(keys, tracked);
  answers.Begin(now, checks.size());
  for (size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    if (check.carried.has_value() && !IsPossible(*check.carried, now)) {
      if (impossible.count++ == 0) impossible.first = i;
      answers.Add(v1::VISIBILITY_VISIBLE, std::nullopt);
      continue;
    }
    TTL_ASSIGN_OR_RETURN(const std::optional<ItemTimes> times, NewestTimes(check, tracked[i]));
    AddJudgement(container.settings.policy.default_ttl, times, now, answers);
  }
  return absl::OkStatus();
}

}  // namespace ttl
