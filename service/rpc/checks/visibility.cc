#include "service/rpc/checks/visibility.h"

#include "absl/base/attributes.h"

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

// The state to judge; null if there is none. `tracked` may be an error only if the check carries
// state. No copies, and no calls: this is done for every key of every check.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline const ItemTimes* TimesToJudge(
    const std::optional<int64_t>& default_ttl, const std::optional<ItemTimes>& carried,
    const FoundTimes& tracked) {
  const ItemTimes* known = tracked.ok() && tracked->has_value() ? &**tracked : nullptr;
  if (!carried.has_value()) return known;
  if (known == nullptr || known->ts < carried->ts) return &*carried;
  if (known->ts > carried->ts) return known;
  return EndsLater(default_ttl, *known, *carried) ? known : &*carried;
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline void AddJudgement(const std::optional<int64_t>& default_ttl,
                                                      const ItemTimes* times, absl::Time now,
                                                      CheckAnswers& answers) {
  if (times == nullptr) return answers.Add(v1::VISIBILITY_UNTRACKED, std::nullopt);
  const std::optional<int64_t> expire_time = ExpireTime(default_ttl, *times);
  answers.Add(IsExpiredAt(expire_time, now) ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE,
              expire_time);
}

// The same in a container with touches, which the carried state does not tell. The tracked item has
// the last one, whatever version is tracked; if none is, a carried state yields no EXPIRED.
ABSL_ATTRIBUTE_NOINLINE void AddJudgementWithTouches(const std::optional<int64_t>& default_ttl,
                                                     std::optional<ItemTimes> carried,
                                                     const FoundTimes& tracked, absl::Time now,
                                                     CheckAnswers& answers) {
  const bool is_tracked = tracked.ok() && tracked->has_value();
  if (carried.has_value() && is_tracked) carried->touch_time = (*tracked)->touch_time;
  const ItemTimes* times = TimesToJudge(default_ttl, carried, tracked);
  const bool is_expired =
      !is_tracked && times != nullptr && IsExpiredAt(ExpireTime(default_ttl, *times), now);
  AddJudgement(default_ttl, is_expired ? nullptr : times, now, answers);
}

}  // namespace

absl::Status JudgeChecks(const Container& container, FindItemTimes find, const CheckTimes& times,
                         absl::Span<const Check> checks, CheckAnswers& answers,
                         ImpossibleChecks& impossible) {
  // Reused by the thread, so that a call allocates nothing.
  thread_local std::vector<KeyView> keys;
  thread_local std::vector<FoundTimes> tracked;
  keys.clear();
  for (const Check& check : checks) keys.push_back({check.partition_key, check.id});
  find(keys, tracked);
  const std::optional<int64_t>& default_ttl = container.settings.policy.default_ttl;
  answers.Begin(times.judged_at, checks.size());
  for (size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    if (check.carried.has_value() && !IsPossible(*check.carried, times.now)) {
      if (impossible.count++ == 0) impossible.first = i;
      answers.Add(v1::VISIBILITY_VISIBLE, std::nullopt);
      continue;
    }
    if (!check.carried.has_value() && !tracked[i].ok()) return tracked[i].status();
    if (container.has_touches) {
      AddJudgementWithTouches(default_ttl, check.carried, tracked[i], times.judged_at, answers);
      continue;
    }
    AddJudgement(default_ttl, TimesToJudge(default_ttl, check.carried, tracked[i]), times.judged_at,
                 answers);
  }
  return absl::OkStatus();
}

}  // namespace ttl
