#ifndef TTL_CLIENT_CPP_LOCAL_EVALUATOR_OPTIONS_H_
#define TTL_CLIENT_CPP_LOCAL_EVALUATOR_OPTIONS_H_

#include <chrono>
#include <functional>

#include "absl/time/time.h"
#include "client/cpp/ttl_client_options.h"

namespace ttl {

// What a LocalEvaluator answers while it cannot rely on what it knows: because the
// sidecar has not been heard for too long, or because its clock is suspect.
enum class WhenUnsure {
  kAsk,   // LocalVerdict::kUnknown: exact, and as slow as the sidecar is then
  kShow,  // kVisible: no item is hidden by mistake, expired ones are shown
  kGoOn,  // by what was last known: expired ones stay hidden, live ones may be hidden
          // under a policy that was lengthened or removed meanwhile
};

// How a LocalEvaluator connects and what it relies on.
struct LocalEvaluatorOptions {
  // Of these, the address and the credentials count.
  TtlClientOptions client;

  // For how long what the sidecar has said is relied on, a day at most. It is asked to
  // speak three times as often, though no more than every 100 ms: below 300 ms there
  // are gaps. And no less than every minute.
  absl::Duration max_staleness = absl::Seconds(3);

  WhenUnsure when_unsure = WhenUnsure::kAsk;

  // A clock that never steps and counts time of suspension too; for tests. Called by
  // any thread. Empty: that of the machine.
  std::function<std::chrono::nanoseconds()> steady_clock = nullptr;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_LOCAL_EVALUATOR_OPTIONS_H_
