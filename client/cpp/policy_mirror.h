#ifndef TTL_CLIENT_CPP_POLICY_MIRROR_H_
#define TTL_CLIENT_CPP_POLICY_MIRROR_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/ttl_rules.h"
#include "ttl/local_evaluator_options.h"
#include "ttl/local_verdict.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

// What a verdict depends on in a container; small enough to be changed as a whole without a lock.
struct MirroredPolicy {
  int32_t default_ttl = 0;  // 0: none
  bool is_there = false;
  bool may_show_expired = false;  // a hold or a touch, of which nothing is known here
};

// One container of a PolicyMirror, whether it exists or not.
class MirroredContainer {
 private:
  friend class PolicyMirror;

  static_assert(std::atomic<MirroredPolicy>::is_always_lock_free);
  std::atomic<MirroredPolicy> policy_ = MirroredPolicy();
  bool is_in_use_ = false;  // a handle exists; guarded by the mirror's mutex
};

// A copy of the containers' policies and the sidecar's clock, from the messages of
// WatchContainers, and the verdicts that follow. Independent of the transport; steady time is an
// argument. One thread at a time applies messages; any number of threads judge meanwhile, without a
// lock.
class PolicyMirror {
 public:
  // Maximum containers kept, counting those that exist and those looked up; others are unknown.
  static constexpr size_t kMaxContainers = 100'000;

  static constexpr absl::Duration kLongestStaleness = absl::Hours(24);

  // A reading of a steady clock.
  using Instant = std::chrono::nanoseconds;

  using Container = MirroredContainer;

  // The time to judge by, at one instant.
  struct JudgingTime {
    absl::Time now;
    bool is_sure = false;
    absl::Time judged_at = now;  // the instant as of which items are judged, not after `now`
  };

  // `max_staleness` is at most kLongestStaleness; more is cut to it.
  PolicyMirror(absl::Duration max_staleness, WhenUnsure when_unsure);

  // The container with that id, whether it exists or not; valid as long as the mirror.
  const Container& Find(absl::string_view id);

  // Applies a message that arrived at `received`.
  void Apply(const v1::WatchContainersResponse& message, Instant received);
  // The stream has ended: the next message is the first of another.
  void Disconnect();

  JudgingTime At(Instant steady) const;
  LocalVerdict Judge(const Container& container, const ItemTimes& item,
                     const JudgingTime& time) const;

 private:
  using Policies = absl::flat_hash_map<std::string, MirroredPolicy>;

  static MirroredPolicy PolicyOf(const v1::Container& container);
  void CollectSnapshot(const v1::WatchContainersResponse& message, Instant received);
  void TakeSnapshot();
  void ApplyChange(const v1::WatchContainersResponse& message);
  void Set(const std::string& id, const MirroredPolicy& policy);
  void Remove(const std::string& id);
  void RelyOn(const v1::WatchContainersResponse& message, Instant received, Instant known_since);

  const std::chrono::nanoseconds max_staleness_;
  const WhenUnsure when_unsure_;

  // Read in this order and written in reverse, so that a reader that sees a new sure_until_ also
  // sees the state that it is about.
  std::atomic<int64_t> sure_until_ = std::numeric_limits<int64_t>::min();  // an Instant
  std::atomic<int64_t> clock_offset_ = 0;  // the sidecar's Unix time minus our Instant

  std::mutex mutex_;
  // All guarded by mutex_.
  absl::flat_hash_map<std::string, std::unique_ptr<Container>> containers_;
  Container too_many_;                     // stands for containers beyond kMaxContainers
  bool is_in_step_ = false;                // a snapshot of the present stream is complete
  std::optional<Instant> snapshot_begin_;  // absent: no snapshot is being received
  Policies snapshot_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_POLICY_MIRROR_H_
