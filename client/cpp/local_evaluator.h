#ifndef TTL_CLIENT_CPP_LOCAL_EVALUATOR_H_
#define TTL_CLIENT_CPP_LOCAL_EVALUATOR_H_

#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/cpp/container_watcher.h"
#include "client/cpp/local_evaluator_options.h"
#include "client/cpp/local_verdict.h"
#include "client/cpp/policy_mirror.h"
#include "service/core/ttl_rules.h"

namespace ttl {

// Judges whether items are visible without a call: by the rules of the sidecar, the
// policies that it announces, and its clock. For stores that have `_ts` and ttl of an
// item at hand whenever they read it, and many items to judge; it costs some tens of
// nanoseconds, and while the sidecar is away it goes on for a while. It knows nothing
// of what is tracked.
//
// How close it comes to asking the sidecar:
// - The policy. What it judges by was told at most `max_staleness` ago, counted from
//   the arrival of the message. The sidecar tells a change at once, but whoever makes
//   one is answered without waiting for evaluators: for as long as the message takes,
//   and at most for `max_staleness`, verdicts follow the policy before it.
// - The time. It goes on from the sidecar's own by a steady clock that starts anew with
//   every message: behind the sidecar by the time that message took to arrive, and
//   never ahead of it. So no item is called expired before its second, but one may be
//   called visible for about a millisecond longer; longer where this process gets no
//   processor. Not counted: how much the two clocks differ in rate between two
//   messages, and a wall clock set back by so little (less than 5 s) that the sidecar
//   follows it, until the next message.
// - The doubt. Beyond `max_staleness`, and while the sidecar's clock is suspect,
//   WhenUnsure says what is answered. A container that does not exist, or was never
//   heard of, is kUnknown whatever it says.
//
// Where all of that is not close enough, ask: TtlClient::CheckItem is exact.
//
// Thread-safe: judging takes no lock. One per process is enough; the sidecar serves a
// limited number.
class LocalEvaluator {
 public:
  using Container = PolicyMirror::Container;

  // Returns at once; nothing is known until the sidecar has been reached.
  explicit LocalEvaluator(LocalEvaluatorOptions options = {});
  ~LocalEvaluator();
  LocalEvaluator(const LocalEvaluator&) = delete;
  LocalEvaluator& operator=(const LocalEvaluator&) = delete;

  // What to call Judge() with for the items of a container, whether it exists by now or
  // not; valid as long as the evaluator. Costs a lock and a look-up: to be called once
  // per container rather than once per item.
  const Container& Find(absl::string_view id);

  // An item as the store has just read it. An impossible `_ts` or ttl is kVisible.
  LocalVerdict Judge(const Container& container, const ItemTimes& item) const;

  // The same for many, as of one instant, which it returns. REQUIRES: both spans are of
  // one length.
  absl::Time Judge(const Container& container, absl::Span<const ItemTimes> items,
                   absl::Span<LocalVerdict> verdicts) const;

  // Whether what the sidecar has said can be relied on at this moment.
  bool IsSure() const;

  // OK while the sidecar is being listened to, else why the last stream has ended; it is
  // opened again by itself.
  absl::Status StreamStatus() const;

 private:
  PolicyMirror::Moment Now() const;
  void SetStreamStatus(absl::Status status);

  const LocalEvaluatorOptions options_;
  PolicyMirror mirror_;
  mutable std::mutex mutex_;
  absl::Status stream_status_;  // guarded by mutex_
  ContainerWatcher watcher_;    // last: its thread uses all the others
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_LOCAL_EVALUATOR_H_
