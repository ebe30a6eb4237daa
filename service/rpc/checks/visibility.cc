#include "service/rpc/checks/visibility.h"

#include "service/base/status_macros.h"

namespace ttl {
namespace {

// Whether to judge `tracked` rather than `carried`, of the same `_ts`: a write that changes
// expire_at may leave `_ts` as it is, so neither is known to be the newer one, and the item stays
// visible as long as by either.
bool EndsLater(const std::optional<int64_t>& default_ttl, const ItemTimes& tracked,
               const ItemTimes& carried) {
  if (!tracked.expire_at.has_value() && !carried.expire_at.has_value()) return false;
  const std::optional<int64_t> by_tracked = ExpireTime(default_ttl, tracked);
  const std::optional<int64_t> by_carried = ExpireTime(default_ttl, carried);
  return by_carried.has_value() && (!by_tracked.has_value() || *by_tracked > *by_carried);
}

// The state to judge; absent if there is none.
FoundTimes TimesToJudge(const std::optional<int64_t>& default_ttl, const Check& check,
                        const FoundTimes& tracked) {
  if (!check.carried.has_value()) return tracked;
  if (!tracked.ok() || !tracked->has_value()) return check.carried;
  const ItemTimes& known = **tracked;
  const bool is_same_ts = known.ts == check.carried->ts;
  const bool judge_tracked =
      is_same_ts ? EndsLater(default_ttl, known, *check.carried) : known.ts > check.carried->ts;
  return judge_tracked ? tracked : check.carried;
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
  const std::optional<int64_t>& default_ttl = container.settings.policy.default_ttl;
  answers.Begin(now, checks.size());
  for (size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    if (check.carried.has_value() && !IsPossible(*check.carried, now)) {
      if (impossible.count++ == 0) impossible.first = i;
      answers.Add(v1::VISIBILITY_VISIBLE, std::nullopt);
      continue;
    }
    TTL_ASSIGN_OR_RETURN(const std::optional<ItemTimes> times,
                         TimesToJudge(default_ttl, check, tracked[i]));
    AddJudgement(default_ttl, times, now, answers);
  }
  return absl::OkStatus();
}

}  // namespace ttl
