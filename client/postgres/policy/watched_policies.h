#ifndef TTL_CLIENT_POSTGRES_POLICY_WATCHED_POLICIES_H_
#define TTL_CLIENT_POSTGRES_POLICY_WATCHED_POLICIES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ttl/v1/container_service.pb.h"

namespace ttl::postgres {

// Policy of one container.
struct WatchedPolicy {
  bool exists = false;                 // in the sidecar
  bool was_deleted = false;            // reported by the sidecar; else lost, or never there
  std::optional<int64_t> default_ttl;  // absent: TTL is off
  bool has_holds = false;              // a row may have to stay: a hold, a gate, or touches
  bool shows_held = false;             // Container.show_held
  bool may_be_touched = false;         // Container.allow_touch, now or before

  friend bool operator==(const WatchedPolicy&, const WatchedPolicy&) = default;
};

// All policies at one revision.
struct WatchedPolicySet {
  std::map<std::string, WatchedPolicy> containers;  // all watched containers
  uint64_t revision = 0;                            // of the sidecar

  friend bool operator==(const WatchedPolicySet&, const WatchedPolicySet&) = default;
};

// Assembles the policies of some containers from WatchContainers messages; messages about other
// containers use no memory. Does no I/O. Not thread-safe.
class WatchedPolicies {
 public:
  explicit WatchedPolicies(const std::vector<std::string>& containers);

  // Applies the next message of a stream. Returns true if current() now matches the sidecar.
  bool Apply(const v1::WatchContainersResponse& message);

  // Must be called when the stream ends: the next message is the first one of a new stream.
  void Disconnect();

  // The last complete set, which a partial snapshot does not change; absent: none yet. A container
  // reported as deleted stays deleted when a snapshot lacks it.
  const std::optional<WatchedPolicySet>& current() const { return current_; }

 private:
  void Collect(const v1::WatchContainersResponse& message);
  // Marks containers that the snapshot lacks as deleted if they were deleted before.
  void KeepDeletions();
  void Set(const v1::WatchContainersResponse& message, WatchedPolicySet& set) const;

  const WatchedPolicySet none_;               // all watched containers, none of which exists
  std::optional<WatchedPolicySet> snapshot_;  // the part received so far
  bool is_in_step_ = false;                   // the snapshot of this stream is complete
  std::optional<WatchedPolicySet> current_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_POLICY_WATCHED_POLICIES_H_
