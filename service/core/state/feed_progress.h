#ifndef TTL_SERVICE_CORE_STATE_FEED_PROGRESS_H_
#define TTL_SERVICE_CORE_STATE_FEED_PROGRESS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/core/container.h"

namespace ttl {

// How far the announcer has announced the expiries of each container. The announcer writes; streams
// and the status read. In memory. Thread-safe.
class FeedProgress {
 public:
  // What is known of a container's feed.
  struct View {
    // All expiries up to this time have been logged, of the items reported and by the policy set
    // before Of() was called; those of items reported later are logged as late. So a stream reads
    // this first, then the log to its end, and sends both. Absent: not known yet.
    std::optional<absl::Time> watermark;
    // The greatest watermark that this log has had, under whatever policy: an EXPIRED that is due
    // by then and still to be logged is late.
    std::optional<absl::Time> announced_until;
    // Since when it is not known; absent if it is, or if nothing has been judged yet.
    std::optional<absl::Time> unknown_since;
    // Why the watermark stalls; empty if it does not.
    std::string stall;
  };

  // No watermark is known of a container whose feed, index or policy the announcer has not met yet.
  View Of(const Container& container) const {
    MutexLock lock(mutex_);
    View view = {.watermark = std::nullopt,
                 .announced_until = std::nullopt,
                 .unknown_since = judged_at_,
                 .stall = stall_};
    const auto it = containers_.find(container.number);
    if (it == containers_.end()) return view;
    const Covered& covered = it->second;
    if (view.stall.empty()) view.stall = covered.stall;
    if (covered.feed_number == container.feed.number) view.announced_until = ToldUntil(covered);
    const bool is_present = covered.feed_number == container.feed.number &&
                            covered.policy_revision == container.feed.policy_revision &&
                            covered.index_number == container.index_number;
    if (!covered.is_complete) {
      view.unknown_since =
          covered.unknown_since.has_value() ? covered.unknown_since : first_judged_;
    } else if (is_present) {
      view.watermark = WatermarkOf(covered);
      view.unknown_since.reset();
    }
    return view;
  }

  // The rest is for the announcer.

  // All expiries of the container before `first_unannounced`, Unix seconds, have been logged, under
  // the feed, index and policy that `container` has; absent: all, however late. `problem`: why no
  // more are logged now; empty if they are.
  void Cover(const Container& container, std::optional<int64_t> first_unannounced,
             std::string problem) {
    MutexLock lock(mutex_);
    Covered& covered = containers_[container.number];
    const bool is_same_log = covered.feed_number == container.feed.number;
    covered = {.feed_number = container.feed.number,
               .policy_revision = container.feed.policy_revision,
               .index_number = container.index_number,
               .is_complete = true,
               .first_unannounced = first_unannounced,
               .announced_until = is_same_log ? ToldUntil(covered) : std::nullopt,
               .stall = std::move(problem)};
  }

  // It is not known what has been logged of the container, because of `stall`, or (empty)
  // because its items are still being looked at for the first time.
  void Uncover(uint64_t container, std::string stall) {
    MutexLock lock(mutex_);
    const auto [it, is_new] = containers_.try_emplace(container);
    Covered& covered = it->second;
    if (is_new || covered.is_complete) {
      covered = {.feed_number = covered.feed_number,
                 .announced_until = ToldUntil(covered),
                 .unknown_since = judged_at_};
    }
    covered.stall = std::move(stall);
  }

  // The container is gone, or has no feed any more.
  void Forget(uint64_t container) {
    MutexLock lock(mutex_);
    containers_.erase(container);
  }

  // All that was committed before `judged_at` has been taken into account by Cover().
  void Advance(absl::Time judged_at) {
    MutexLock lock(mutex_);
    judged_at_ = judged_at;
    if (!first_judged_.has_value()) first_judged_ = judged_at;
    stall_.clear();
  }

  // Nothing is announced, in any container.
  void Stall(std::string reason) {
    MutexLock lock(mutex_);
    stall_ = std::move(reason);
  }

 private:
  struct Covered {
    uint64_t feed_number = 0;
    uint64_t policy_revision = 0;
    uint64_t index_number = 0;
    bool is_complete = false;
    std::optional<int64_t> first_unannounced = std::nullopt;
    std::optional<absl::Time> announced_until = std::nullopt;  // until it was covered as it is now
    // Unless it is complete; absent: since the first judging time.
    std::optional<absl::Time> unknown_since = std::nullopt;
    std::string stall = "";
  };

  std::optional<absl::Time> WatermarkOf(const Covered& covered) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!judged_at_.has_value() || !covered.first_unannounced.has_value()) return judged_at_;
    const absl::Time first = absl::FromUnixSeconds(*covered.first_unannounced);
    return first > *judged_at_ ? *judged_at_ : first - absl::Seconds(1);
  }

  std::optional<absl::Time> ToldUntil(const Covered& covered) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!covered.is_complete) return covered.announced_until;
    return std::max(covered.announced_until, WatermarkOf(covered));
  }

  mutable Mutex mutex_;
  std::optional<absl::Time> judged_at_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Time> first_judged_ ABSL_GUARDED_BY(mutex_);
  std::string stall_ ABSL_GUARDED_BY(mutex_) = "not started yet";
  absl::flat_hash_map<uint64_t, Covered> containers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_FEED_PROGRESS_H_
