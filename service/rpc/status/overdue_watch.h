#ifndef TTL_SERVICE_RPC_STATUS_OVERDUE_WATCH_H_
#define TTL_SERVICE_RPC_STATUS_OVERDUE_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/core/container.h"
#include "service/rpc/status/expiry_view.h"

namespace ttl {

// Notices containers whose deletes get nowhere: an item has been due for kOverdue, nothing that
// an operator or a policy chose holds it, and no delete has succeeded for kNoSuccess. Computed
// outside of the sweeper, so that a sweeper that never gets on shows. Thread-safe, but RunOnce()
// is for one thread.
class OverdueWatch {
 public:
  static constexpr absl::Duration kOverdue = absl::Minutes(15);
  static constexpr absl::Duration kNoSuccess = absl::Minutes(5);

  // What `parts` name must outlive this. `start`: of the process, steady; no delete can have
  // succeeded before.
  OverdueWatch(const ExpiryView::Parts& parts, absl::Duration start)
      : parts_(parts), view_(parts), start_(start) {}

  // Looks at some containers: at all of them within a few seconds if there are thousands. To be
  // called about once a second.
  void RunOnce();

  // How many containers' deletes get nowhere.
  size_t count() const;

  // What is wrong, in one sentence for each container; at most kMaxReasons, and one for the rest.
  static constexpr size_t kMaxReasons = 5;
  std::vector<std::string> Reasons() const;

 private:
  // Why deletes of the container get nowhere; empty if all is well.
  std::string ReasonOf(const ExpiryView::Moment& moment, const Container& container) const;

  const ExpiryView::Parts parts_;
  const ExpiryView view_;
  const absl::Duration start_;
  std::string last_looked_at_;  // container; empty: begin with the first

  mutable Mutex mutex_;
  std::map<std::string, std::string> reasons_ ABSL_GUARDED_BY(mutex_);  // by container
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_OVERDUE_WATCH_H_
