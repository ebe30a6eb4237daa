#ifndef TTL_SERVICE_EXPIRY_FEED_FEED_JUDGE_H_
#define TTL_SERVICE_EXPIRY_FEED_FEED_JUDGE_H_

#include <string>

#include "service/core/clock.h"
#include "service/core/feed/feed_clock.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/data_trust.h"
#include "service/core/state/store_trust.h"

namespace ttl {

// Decides by what time expiries are announced, and whether they may be: not while the clock is
// suspect, the tracked data is in doubt or the store is unconfirmed, since then nothing is deleted
// either. Thread-safe.
class FeedJudge {
 public:
  // All must outlive this. `system_clock` gives the steady time.
  FeedJudge(const GuardedClock& clock, const Clock& system_clock, const DataTrust& data,
            const StoreTrust& store)
      : clock_(clock), system_clock_(system_clock), data_(data), store_(store) {}

  // The present moment, for FeedClock. Does not block.
  FeedMoment Read() const;

  // Why nothing may be announced now; empty if it may.
  std::string StallReason() const;

 private:
  const GuardedClock& clock_;
  const Clock& system_clock_;
  const DataTrust& data_;
  const StoreTrust& store_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_FEED_FEED_JUDGE_H_
