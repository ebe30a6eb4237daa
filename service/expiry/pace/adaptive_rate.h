#ifndef TTL_SERVICE_EXPIRY_PACE_ADAPTIVE_RATE_H_
#define TTL_SERVICE_EXPIRY_PACE_ADAPTIVE_RATE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "service/expiry/pace/recent_count.h"

namespace ttl {

// What a store bears, learned from its push-back. Each push-back cuts the rate to half of what
// the store deleted within the last second, but never below kFloor, so that a backlog keeps
// moving. From the last one on the rate grows to what it was before within kRecovery, with the
// square of the time, so that a store that goes on pushing back is asked for little; then by a
// fifth a second, until it is twice of that and says no more.
//
// What it was before is known only while the store deletes: push-backs that follow each other,
// or that come while nothing is deleted, are one trouble, and do not lower it. Pure: time is an
// argument, the reading of a steady clock. Not thread-safe.
class AdaptiveRate {
 public:
  static constexpr absl::Duration kRecovery = absl::Seconds(9);
  static constexpr double kFloor = 1;  // deletes per second

  // Deletes per second that the store bears; absent if it does not push back.
  std::optional<double> Get(absl::Duration now);

  // `count` deletes are sent.
  void NoteSent(int64_t count, absl::Duration now);

  // The store answered that it deleted `count`.
  void NoteDeleted(int64_t count, absl::Duration now);

  // The store pushed back.
  void PushBack(absl::Duration now);

 private:
  // The rate in force since the last cut.
  struct Limit {
    double cut;
    double before;  // grows back to this
    absl::Duration since;
  };

  double RateBefore(double deleted, absl::Duration now);
  void NotePeak(int64_t count, absl::Duration now);

  std::optional<Limit> limit_;
  RecentCount sent_;
  RecentCount deleted_;

  // The most that was sent or deleted within a second, in this and in the last stretch of kStretch.
  static constexpr absl::Duration kStretch = absl::Seconds(10);
  int64_t peak_ = 0;
  int64_t last_peak_ = 0;
  absl::Duration stretch_start_ = -absl::InfiniteDuration();
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_ADAPTIVE_RATE_H_
