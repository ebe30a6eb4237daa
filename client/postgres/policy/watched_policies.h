#ifndef TTL_CLIENT_POSTGRES_POLICY_WATCHED_POLICIES_H_
#define TTL_CLIENT_POSTGRES_POLICY_WATCHED_POLICIES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ttl/v1/container_service.pb.h"

namespace ttl::postgres {

// The policy of one container.
struct WatchedPolicy {
  bool exists = false;       // in the sidecar
  bool was_deleted = false;  // the sidecar told so; else one that it has lost, or never had
  std::optional<int64_t> default_ttl;  // absent: TTL is off

  friend bool operator==(const WatchedPolicy&, const WatchedPolicy&) = default;
};

// All policies at one moment.
struct WatchedPolicySet {
  std::map<std::string, WatchedPolicy> containers;  // all that are asked for
  uint64_t revision = 0;                            // the sidecar's

  friend bool operator==(const WatchedPolicySet&, const WatchedPolicySet&) = default;
};

// What the messages of WatchContainers say of some containers; the others cost nothing. Pure.
// Not thread-safe.
class WatchedPolicies {
 public:
  explicit WatchedPolicies(const std::vector<std::string>& containers);

  // The next message of a stream. True: current() is now what the sidecar said.
  bool Apply(const v1::WatchContainersResponse& message);

  // The stream has ended: the next message is the first of another.
  void Disconnect();

  // The last complete set: half a snapshot changes nothing. Absent: there was none yet. A container
  // that was told to be deleted stays so when a snapshot lacks it.
  const std::optional<WatchedPolicySet>& current() const { return current_; }

 private:
  void Collect(const v1::WatchContainersResponse& message);
  // What is missing in the snapshot that was deleted before.
  void KeepDeletions();
  void Set(const v1::WatchContainersResponse& message, WatchedPolicySet& set) const;

  const WatchedPolicySet none_;               // what is asked for; none of it exists
  std::optional<WatchedPolicySet> snapshot_;  // as far as it was received
  bool is_in_step_ = false;                   // the snapshot of this stream was complete
  std::optional<WatchedPolicySet> current_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_POLICY_WATCHED_POLICIES_H_
