#ifndef TTL_SERVICE_EXPIRY_PACE_ADAPTIVE_RATE_H_
#define TTL_SERVICE_EXPIRY_PACE_ADAPTIVE_RATE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "service/expiry/pace/recent_count.h"

namespace ttl {

// The rate of deletes that a store accepts, learned from its push-back.
//
// Each push-back cuts the rate to half of what the store deleted within the last second, but never
// below kFloor, so that the backlog keeps shrinking. Within kRecovery the rate grows back to its
// previous value, quadratically in time, so that a store that keeps pushing back gets few deletes.
// Then it grows by a fifth per second; at twice the previous value the limit is lifted.
//
// The previous value can be measured only while the store deletes. Push-backs within a second of
// each other, or while little is deleted, count as one incident and do not lower it.
//
// Pure: time is an argument, the reading of a steady clock. Not thread-safe.
class AdaptiveRate {
 public:
  static constexpr absl::Duration kRecovery = absl::Seconds(9);
  static constexpr double kFloor = 1;  // deletes per second

  // Deletes per second that the store accepts; absent if there is no limit.
  std::optional<double> Get(absl::Duration now);

  // `count` deletes were sent.
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

  // The most deletes sent, or deleted, within a second, in the current period and the previous one.
  static constexpr absl::Duration kStretch = absl::Seconds(10);
  int64_t peak_ = 0;
  int64_t last_peak_ = 0;
  absl::Duration stretch_start_ = -absl::InfiniteDuration();
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_ADAPTIVE_RATE_H_
