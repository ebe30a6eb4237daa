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

// What a start changes in storage: the doubt of a rebuild that was asked for, the pause of
// --start-paused, and what differs in the containers file. They are made again and again until
// all are made, for a volume may take no writes at the start; until then nothing may be deleted,
// so that the caller keeps the delete gate closed. For one thread at a time.
class StartChanges {
 public:
  // All must outlive this.
  StartChanges(const ServerConfig& config, std::vector<ContainerEntry> entries, Storage& storage,
               const GuardedClock& clock)
      : config_(config), entries_(std::move(entries)), storage_(storage), clock_(clock) {}

  // Makes those that are not made yet. Waits for storage; returns its first error, of which
  // TakesNoWrites() (rebuild.h) says whether it may pass.
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
