#ifndef TTL_SERVICE_RPC_STATUS_OVERDUE_WATCH_H_
#define TTL_SERVICE_RPC_STATUS_OVERDUE_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/core/container.h"
#include "service/rpc/status/expiry_view.h"
#include "service/rpc/status/feed_view.h"

namespace ttl {

// Finds containers whose deletes make no progress: an item has been due for kOverdue, no operator
// or policy holds it back, and no delete has succeeded for kNoSuccess. Time in which the windows of
// the container allow no deletes does not count (core/windows/allowed_time.h). Computed outside of
// the sweeper, so that a sweeper that makes no progress is noticed. Finds those whose holds are in
// doubt, those whose time zone cannot be loaded, and those that wait too long for a gated
// subscription, too. Thread-safe, except that only one thread may call RunOnce().
class OverdueWatch {
 public:
  static constexpr absl::Duration kOverdue = absl::Minutes(15);
  static constexpr absl::Duration kNoSuccess = absl::Minutes(5);
  // How long deletes may wait for a gated subscription.
  static constexpr absl::Duration kMaxGateWait = absl::Hours(1);

  // `feeds` and everything in `parts` must outlive this. `start`: the steady time at which the
  // process started, used as the time of the last success before the first.
  OverdueWatch(const ExpiryView::Parts& parts, const FeedView& feeds, absl::Duration start)
      : parts_(parts), view_(parts), feeds_(feeds), start_(start) {}

  // Examines the next containers, thousands per call. To be called about once a second.
  void RunOnce();

  // Number of containers whose deletes make no progress.
  size_t count() const;

  // One sentence per container; at most kMaxReasons, and one for the rest.
  static constexpr size_t kMaxReasons = 5;
  std::vector<std::string> Reasons() const;

  // The same for the containers whose holds are in doubt, with the command that ends it.
  std::vector<std::string> HoldsInDoubt() const;

  // The same for the containers whose windows have a time zone that cannot be loaded.
  std::vector<std::string> MissingZones() const;

  // The same for the containers that wait for a gated subscription whose oldest event is older than
  // kMaxGateWait, or whose feed is full because of one.
  std::vector<std::string> Gates() const;

 private:
  // Why deletes of the container make no progress; empty if they do.
  std::string ReasonOf(const ExpiryView::Snapshot& snapshot, const Container& container) const;
  // Why the windows of the container are not known; empty if they are, or if it has none.
  static std::string MissingZoneOf(const Container& container);
  // Why a gated subscription of the container is a trouble; empty if none is.
  std::string GateOf(const Container& container, absl::Time now) const;

  const ExpiryView::Parts parts_;
  const ExpiryView view_;
  const FeedView& feeds_;
  const absl::Duration start_;
  std::string last_looked_at_;  // container; empty: begin with the first

  mutable Mutex mutex_;
  std::map<std::string, std::string> reasons_ ABSL_GUARDED_BY(mutex_);  // by container
  std::set<std::string> in_doubt_ ABSL_GUARDED_BY(mutex_);              // containers
  std::map<std::string, std::string> zones_ ABSL_GUARDED_BY(mutex_);    // missing, by container
  std::map<std::string, std::string> gates_ ABSL_GUARDED_BY(mutex_);    // by container
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_OVERDUE_WATCH_H_
