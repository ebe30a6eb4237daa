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
#include "client/cpp/local_evaluator_options.h"
#include "client/cpp/local_verdict.h"
#include "service/core/ttl_rules.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

// The containers' default_ttl and the sidecar's clock, as the messages of
// WatchContainers tell them, and the verdicts that follow. Apart from any transport;
// steady time is an argument. One thread at a time hands in what comes from the
// sidecar; any number judge meanwhile, without a lock.
class PolicyMirror {
 public:
  // Of those that exist and those asked for, so many are kept; the others are unknown.
  static constexpr size_t kMaxContainers = 100'000;

  static constexpr absl::Duration kLongestStaleness = absl::Hours(24);

  // By a steady clock.
  using Instant = std::chrono::nanoseconds;

  // One container, whether it exists or not.
  class Container {
   private:
    friend class PolicyMirror;
    static constexpr int64_t kOff = 0;  // it has no default_ttl
    static constexpr int64_t kNotThere = std::numeric_limits<int64_t>::min();

    std::atomic<int64_t> default_ttl_ = kNotThere;
    bool is_in_use_ = false;  // somebody holds it; guarded by the mirror's mutex
  };

  // What to judge by at one instant.
  struct Moment {
    absl::Time now;
    bool is_sure = false;
  };

  // More than kLongestStaleness is cut to it.
  PolicyMirror(absl::Duration max_staleness, WhenUnsure when_unsure);

  // The container of that id; valid as long as the mirror.
  const Container& Find(absl::string_view id);

  // A message that came at `received`.
  void Apply(const v1::WatchContainersResponse& message, Instant received);
  // The stream has ended: the next message is the first of another.
  void Disconnect();

  Moment At(Instant steady) const;
  LocalVerdict Judge(const Container& container, const ItemTimes& item, const Moment& moment) const;

 private:
  using Ttls = absl::flat_hash_map<std::string, int64_t>;

  static int64_t TtlOf(const v1::Container& container);
  void CollectSnapshot(const v1::WatchContainersResponse& message, Instant received);
  void TakeSnapshot();
  void ApplyChange(const v1::WatchContainersResponse& message);
  void Set(const std::string& id, int64_t default_ttl);
  void Remove(const std::string& id);
  void RelyOn(const v1::WatchContainersResponse& message, Instant received, Instant known_since);

  const std::chrono::nanoseconds max_staleness_;
  const WhenUnsure when_unsure_;

  // Read in this order, written in the reverse one: who sees that something is relied
  // on sees all that this was said of.
  std::atomic<int64_t> sure_until_ = std::numeric_limits<int64_t>::min();  // an Instant
  std::atomic<int64_t> clock_offset_ = 0;  // the sidecar's Unix time minus our Instant

  std::mutex mutex_;
  // All guarded by mutex_.
  absl::flat_hash_map<std::string, std::unique_ptr<Container>> containers_;
  Container too_many_;                     // stands for those that there is no room for
  bool is_in_step_ = false;                // a snapshot of the present stream is complete
  std::optional<Instant> snapshot_begin_;  // absent: no snapshot is being received
  Ttls snapshot_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_POLICY_MIRROR_H_
