#ifndef TTL_SERVICE_SERVER_START_CHANGES_H_
#define TTL_SERVICE_SERVER_START_CHANGES_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "service/core/guarded_clock.h"
#include "service/server/config/config.h"
#include "service/storage/storage.h"
#include "service/yaml/container_entries.h"

namespace ttl {

// The changes that a start makes in storage: the doubt of a rebuild, the pause of --start-paused,
// and the changed entries of the containers file. The volume may accept no writes at the start, so
// the caller retries until all are made, and keeps the delete gate closed until then. Not
// thread-safe.
class StartChanges {
 public:
  // `config`, `storage` and `clock` must outlive this.
  StartChanges(const ServerConfig& config, std::vector<ContainerEntry> entries, Storage& storage,
               const GuardedClock& clock)
      : config_(config), entries_(std::move(entries)), storage_(storage), clock_(clock) {}

  // Makes the changes that are not made yet, and waits for the commits. Returns the first error of
  // storage; TakesNoWrites() (rebuild.h) tells whether a retry may succeed.
  absl::Status Make();

 private:
  absl::Status PauseIfAsked();

  const ServerConfig& config_;
  const std::vector<ContainerEntry> entries_;
  Storage& storage_;
  const GuardedClock& clock_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_START_CHANGES_H_
