#ifndef TTL_SERVICE_EXPIRY_ADAPTIVE_RATE_H_
#define TTL_SERVICE_EXPIRY_ADAPTIVE_RATE_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"

namespace ttl {

// What a store bears, learned from its push-back: halved at once by each, at most once
// a step, and grown back step by step, until it is twice what it was before the first
// cut and so says no more. It never falls below kFloor, so that a backlog keeps moving.
//
// Pure: time is an argument, the reading of a steady clock. Not thread-safe.
class AdaptiveRate {
 public:
  static constexpr absl::Duration kStep = absl::Seconds(1);
  static constexpr double kGrowthPerStep = 1.2;
  static constexpr double kFloor = 1;  // deletes per second

  explicit AdaptiveRate(absl::Duration now) : window_start_(now) {}

  // Deletes per second that the store bears; absent if it does not push back.
  std::optional<double> Get(absl::Duration now);

  // `count` deletes are sent.
  void NoteSent(int64_t count, absl::Duration now);

  // The store pushed back.
  void PushBack(absl::Duration now);

 private:
  void MoveWindow(absl::Duration now);

  std::optional<double> bearable_;
  double before_ = 0;  // the rate at the first cut
  absl::Duration last_cut_;
  absl::Duration last_change_;  // cut or growth

  // Deletes sent within a step, to know the rate that is to be cut.
  absl::Duration window_start_;
  int64_t sent_in_window_ = 0;
  double last_window_rate_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_ADAPTIVE_RATE_H_
