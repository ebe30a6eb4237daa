#ifndef TTL_CLIENT_CPP_REPEAT_RULE_H_
#define TTL_CLIENT_CPP_REPEAT_RULE_H_

#include <optional>

#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"

namespace ttl {

// Calls by the effect of sending them twice.
enum class CallKind {
  // No effect. Also an acknowledgement, which never goes back.
  kRead,
  // No effect, because every entry has a sequence, by which the sidecar recognizes duplicates.
  kOrderedReport,
  // The second report could override a later write of the same second.
  kReport,
  // A hold: none, unless another caller released it in between. Then it stands again, which deletes
  // nothing.
  kHold,
  // A touch: the countdown starts a moment later.
  kTouch,
  // The second change could undo another caller's.
  kChange,
  // Of use only at once: never retried, and does not wait for a connection.
  kNow,
};

// One failed attempt of a call.
struct FailedAttempt {
  grpc::StatusCode code = grpc::StatusCode::UNKNOWN;
  // The server's retry delay; infinite: do not retry.
  std::optional<absl::Duration> hint;
  int number = 1;  // from 1
};

// The failure of an attempt that this client did not cancel. CANCELLED counts as UNAVAILABLE,
// because a sidecar that stops may cancel calls.
FailedAttempt FailureOf(const grpc::ClientContext& context, const grpc::Status& status, int number);

// How long to wait before the next attempt; absent if there is none. `left` is the time until the
// call's deadline. `random`, from 0 to 1, is the jitter. Pure.
//
// - UNAVAILABLE: reads, ordered reports, holds and touches are retried, with `until_deadline` until
//   the deadline, otherwise up to 4 attempts. Other reports are retried only with a retry delay,
//   which says that the sidecar refused them. Other calls never.
// - RESOURCE_EXHAUSTED: reports and touches are retried, up to 4 attempts: the sidecar returns it
//   before it applies anything.
// - Other codes, or a retry delay beyond the deadline: never.
std::optional<absl::Duration> PauseBeforeRepeat(CallKind kind, const FailedAttempt& failure,
                                                bool until_deadline, absl::Duration left,
                                                double random);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_REPEAT_RULE_H_
