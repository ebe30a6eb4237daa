#ifndef TTL_SERVICE_EXPIRY_PACE_TOKEN_BUCKET_H_
#define TTL_SERVICE_EXPIRY_PACE_TOKEN_BUCKET_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/time/time.h"

namespace ttl {

// Limits a rate exactly: over every window, from the very first on, at most
// rate x window + one batch is taken, a batch being what the rate gives in
// kBatchInterval, at least 1 and at most what is ever taken at once. Rates below 1/s and far above
// 1M/s work alike.
//
// Pure: time is an argument, the reading of a steady clock. A reading earlier
// than one given before counts as that one, so that no stretch of time is earned
// twice. Not thread-safe.
class TokenBucket {
 public:
  static constexpr absl::Duration kBatchInterval = absl::Milliseconds(100);

  // Starts with one batch. `rate` in tokens per second: absent is no limit; 0,
  // and whatever is below or not a number, is none at all. `max_batch`, at least
  // 1, is the most that is ever taken at once: no more than that is saved up.
  TokenBucket(std::optional<double> rate, absl::Duration now,
              int64_t max_batch = std::numeric_limits<int64_t>::max());

  // Changes the rate: what was saved up beyond a batch of the new rate is gone,
  // and nothing is given away, however often the rate changes.
  void SetRate(std::optional<double> rate, absl::Duration now);

  // Most tokens that can be taken at once: one batch. 0 if the rate is 0.
  int64_t BatchSize() const;

  // Tokens that can be taken at `now`.
  int64_t Available(absl::Duration now);

  // How long after `now` `count` tokens, at most BatchSize(), can be taken: zero
  // if they are there, infinite if the rate is 0.
  absl::Duration TimeUntil(int64_t count, absl::Duration now);

  // Takes tokens. REQUIRES: count <= Available(now).
  void Take(int64_t count, absl::Duration now);

  // Takes what turned out to have been used beyond what was taken, and leaves a debt
  // if it is not there: at most what the rate gives in kMostDebt, so that one wrong
  // figure cannot stop everything. Never gives anything back.
  static constexpr absl::Duration kMostDebt = absl::Seconds(10);
  void Charge(double tokens, absl::Duration now);

 private:
  double Capacity() const;
  void Refill(absl::Duration now);

  int64_t max_batch_;
  std::optional<double> rate_;  // not negative
  double tokens_ = 0;           // at most Capacity(); of no meaning without limit
  absl::Duration last_;         // up to when tokens_ has been filled
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_TOKEN_BUCKET_H_
