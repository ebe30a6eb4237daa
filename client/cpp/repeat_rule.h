#ifndef TTL_CLIENT_CPP_REPEAT_RULE_H_
#define TTL_CLIENT_CPP_REPEAT_RULE_H_

#include <optional>

#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"

namespace ttl {

// What it means to send a call twice.
enum class CallKind {
  // Nothing.
  kRead,
  // Every entry has a sequence, by which the sidecar tells a second report from a later one.
  kOrderedReport,
  // A second report could overrule a later write of the same second.
  kReport,
  // A second one could undo somebody else's.
  kChange,
  // Only of use at once: it does not even wait for a connection.
  kNow,
};

// One failed attempt of a call.
struct FailedAttempt {
  grpc::StatusCode code = grpc::StatusCode::UNKNOWN;
  // The server's hint when to come back; infinite: never.
  std::optional<absl::Duration> hint;
  int number = 1;  // from 1
};

// `status` and the hint in `context`, of an attempt that this client did not cancel. A
// sidecar that stops may cancel calls: then it is unavailable.
FailedAttempt FailureOf(const grpc::ClientContext& context, const grpc::Status& status, int number);

// How long to wait before the next attempt, or that there is none. `left` is until the
// call's deadline; `random`, from 0 to 1, keeps clients that fail together from coming back
// together.
//
// - UNAVAILABLE: reads and ordered reports are sent again until the deadline, with
//   `until_deadline`; without, at most 4 times. Other reports only with a hint, by which the
//   sidecar says that it refused them. Others never.
// - RESOURCE_EXHAUSTED: reports are sent again, at most 4 times; the sidecar answers it
//   before anything is applied.
// - Anything else, or a hint beyond the deadline: no.
std::optional<absl::Duration> PauseBeforeRepeat(CallKind kind, const FailedAttempt& failure,
                                                bool until_deadline, absl::Duration left,
                                                double random);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_REPEAT_RULE_H_
