#ifndef TTL_LOCAL_EVALUATOR_OPTIONS_H_
#define TTL_LOCAL_EVALUATOR_OPTIONS_H_

#include <chrono>
#include <functional>

#include "absl/time/time.h"
#include "ttl/client_options.h"

namespace ttl {

// The verdict of a LocalEvaluator while it is unsure, because it has received no message
// for too long or the sidecar's clock is suspect.
enum class WhenUnsure {
  kAsk,   // LocalVerdict::kUnknown: exact, but needs a call for each item
  kShow,  // kVisible: no item is hidden by mistake, expired items are shown
  kGoOn,  // by the last known state: expired items stay hidden, and live items may be
          // hidden if the policy was lengthened or removed meanwhile
};

// How a LocalEvaluator connects, and what it accepts as recent.
struct LocalEvaluatorOptions {
  // Only the address and the credentials are used.
  TtlClientOptions client;

  // Maximum age of the last message, at most a day. The sidecar is asked for three
  // messages in this time, but for no more than one per 100 ms, so below 300 ms there are
  // gaps, and for at least one per minute.
  absl::Duration max_staleness = absl::Seconds(3);

  WhenUnsure when_unsure = WhenUnsure::kAsk;

  // Whether the caller passes the expire_at of items that have one. Without it the verdict is
  // kUnknown in a container that has or had such items: it would be by ts and ttl alone.
  bool knows_expire_at = false;

  // A clock that never steps and includes time of suspension; for tests. Any thread may
  // call it. Empty: the machine's clock.
  std::function<std::chrono::nanoseconds()> steady_clock = nullptr;
};

}  // namespace ttl

#endif  // TTL_LOCAL_EVALUATOR_OPTIONS_H_
