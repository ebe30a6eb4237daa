#ifndef TTL_SERVICE_EXPIRY_PACE_TOKEN_BUCKET_H_
#define TTL_SERVICE_EXPIRY_PACE_TOKEN_BUCKET_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/time/time.h"

namespace ttl {

// A token bucket with an exact bound: over every window, from construction on, at most
// rate x window + one batch is taken. A batch is what the rate earns in kBatchInterval, at least 1
// and at most `max_batch`. Rates below 1/s and far above 1M/s both work.
//
// Pure: time is an argument, the reading of a steady clock. A reading earlier than a previous one
// counts as that one, so that no time is earned twice. Not thread-safe.
class TokenBucket {
 public:
  static constexpr absl::Duration kBatchInterval = absl::Milliseconds(100);

  // Starts with one batch. `rate` is in tokens per second: absent means no limit; 0, negative and
  // NaN mean no tokens. `max_batch`, at least 1, is the most that is ever taken at once.
  TokenBucket(std::optional<double> rate, absl::Duration now,
              int64_t max_batch = std::numeric_limits<int64_t>::max());

  // Changes the rate. Tokens beyond a batch of the new rate are dropped; no tokens are gained,
  // however often the rate changes.
  void SetRate(std::optional<double> rate, absl::Duration now);

  // The most tokens that can be taken at once: one batch. 0 if the rate is 0.
  int64_t BatchSize() const;

  // Tokens that can be taken at `now`.
  int64_t Available(absl::Duration now);

  // How long after `now` until `count` tokens, at most BatchSize(), can be taken: zero if they are
  // available, infinite if the rate is 0.
  absl::Duration TimeUntil(int64_t count, absl::Duration now);

  // Takes tokens. REQUIRES: count <= Available(now).
  void Take(int64_t count, absl::Duration now);

  // Takes tokens for usage that exceeded what was taken, going into debt if necessary: at most by
  // what the rate earns in kMaxDebt, so that one wrong figure cannot stop deletes for long. Values
  // of 0 or less have no effect.
  static constexpr absl::Duration kMaxDebt = absl::Seconds(10);
  void Charge(double tokens, absl::Duration now);

 private:
  double Capacity() const;
  void Refill(absl::Duration now);

  int64_t max_batch_;
  std::optional<double> rate_;  // not negative
  double tokens_ = 0;           // at most Capacity(); unused without a limit
  absl::Duration last_;         // time of the last refill
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_TOKEN_BUCKET_H_
