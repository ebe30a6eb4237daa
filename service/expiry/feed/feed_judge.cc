#include "service/expiry/feed/feed_judge.h"

#include "absl/strings/str_cat.h"

namespace ttl {

FeedMoment FeedJudge::Read() const {
  const JudgingTime time = clock_.Read();
  FeedMoment moment = {.now = time.now, .judged_at = std::nullopt};
  moment.steady = system_clock_.Read().boot.value_or(absl::ZeroDuration());
  if (time.deletes_allowed && !data_.in_doubt() && !store_.is_unconfirmed()) {
    moment.judged_at = time.for_deletes;
  }
  return moment;
}

std::string FeedJudge::StallReason() const {
  const ClockStatus clock = clock_.Status();
  if (!clock.time.deletes_allowed) {
    return absl::StrCat("the clock is suspect", clock.reason.empty() ? "" : ": ", clock.reason);
  }
  if (data_.in_doubt()) return absl::StrCat("the tracked data is in doubt: ", data_.doubt());
  if (store_.is_unconfirmed()) return "the primary store has to be confirmed";
  return "";
}

}  // namespace ttl
