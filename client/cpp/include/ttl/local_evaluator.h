#ifndef TTL_LOCAL_EVALUATOR_H_
#define TTL_LOCAL_EVALUATOR_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "ttl/judged_item.h"
#include "ttl/local_evaluator_options.h"
#include "ttl/local_verdict.h"

namespace ttl {

class MirroredContainer;

// Judges whether items are visible without a call, by the rules of the sidecar, the
// policies that it streams, and its clock. It is meant for stores that have an item's
// `_ts` and ttl at hand when they read it, and judge many items. A verdict costs some
// tens of nanoseconds, and judging continues for a while when the sidecar is down. The
// evaluator does not know which items are tracked.
//
// How its verdicts differ from the sidecar's:
// - Policy. It was received at most `max_staleness` ago, counted from the arrival of the
//   message. The sidecar sends a change at once, but acknowledges it without waiting for
//   evaluators: until the message arrives, and at most for `max_staleness`, verdicts
//   follow the previous policy.
// - Time. It is the sidecar's time in the last message plus the progress of a steady
//   clock since: behind the sidecar by the latency of that message, and never ahead of
//   it. So no item is called expired before its second, but one may be called visible
//   for about a millisecond longer, or more if this process gets no CPU time. Two errors
//   are not corrected until the next message: the difference in rate of the two clocks,
//   and a wall clock that was set back by less than 5 s, which the sidecar follows.
// - Holds. It does not know which items are held: in a container with show_held, where a
//   hold keeps an expired item visible, the verdict is kUnknown instead of kExpired.
// - Touches. It does not know which items were touched: in a container that allows touches, or
//   allowed them before, the verdict is kUnknown instead of kExpired. As any policy, the first
//   allow_touch is known after at most `max_staleness`: touch nothing before.
// - Doubt. After `max_staleness` without a message, and while the sidecar's clock is
//   suspect, WhenUnsure decides the verdict. For a container that does not exist or is
//   not known yet, the verdict is always kUnknown.
//
// If that is not exact enough, call TtlClient::CheckItem.
//
// Thread-safe; judging takes no lock. Use one evaluator per process: the sidecar serves
// a limited number of watchers.
class LocalEvaluator {
 public:
  // A handle; its contents are not part of the interface.
  using Container = MirroredContainer;

  // Does not block; all verdicts are unsure until the sidecar has been reached.
  explicit LocalEvaluator(LocalEvaluatorOptions options = {});
  ~LocalEvaluator();
  LocalEvaluator(const LocalEvaluator&) = delete;
  LocalEvaluator& operator=(const LocalEvaluator&) = delete;

  // Returns the handle of a container for Judge(), whether or not the container exists;
  // it is valid as long as the evaluator. Takes a lock and a look-up: call it once per
  // container, not once per item.
  const Container& Find(absl::string_view id);

  // Judges an item as the store has just read it. An impossible `_ts` or ttl is kVisible.
  LocalVerdict Judge(const Container& container, const JudgedItem& item) const;

  // Judges many items as of one time, which it returns. REQUIRES: both spans have the
  // same length.
  absl::Time Judge(const Container& container, absl::Span<const JudgedItem> items,
                   absl::Span<LocalVerdict> verdicts) const;

  // The longest time that an instant given to JudgeAsOf may be back.
  static constexpr absl::Duration kMaxAsOfAge = absl::Hours(1);
  // And ahead: the evaluator's time is behind the sidecar's, and either may step back.
  static constexpr absl::Duration kMaxAsOfLead = absl::Seconds(5);

  // The same as of an earlier instant, so that all parts of one query agree: usually one that
  // Judge() or a response of the sidecar returned. It takes back the clock alone; the policy is
  // that of now. An instant ahead of the evaluator's time means now. INVALID_ARGUMENT, naming
  // as_of and what is allowed, if it is more than kMaxAsOfLead ahead or kMaxAsOfAge back. While the
  // evaluator is unsure of the time, WhenUnsure decides instead, and kGoOn judges by the last known
  // time at the latest.
  absl::StatusOr<LocalVerdict> JudgeAsOf(const Container& container, const JudgedItem& item,
                                         absl::Time as_of) const;
  absl::Status JudgeAsOf(const Container& container, absl::Span<const JudgedItem> items,
                         absl::Span<LocalVerdict> verdicts, absl::Time as_of) const;

  // Whether policies and clock are recent and sound now, so that WhenUnsure does not
  // apply.
  bool IsSure() const;

  // OK while the stream is open, else why the last one ended; the evaluator reopens it.
  absl::Status StreamStatus() const;

 private:
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace ttl

#endif  // TTL_LOCAL_EVALUATOR_H_
