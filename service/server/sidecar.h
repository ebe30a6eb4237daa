#ifndef TTL_SERVICE_SERVER_SIDECAR_H_
#define TTL_SERVICE_SERVER_SIDECAR_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/server/config/config.h"

namespace ttl {

// Everything of one ttl-sidecar, put together: built bottom-up, and destroyed in
// the order of a clean shutdown.
class Sidecar {
 public:
  // Opens the database, brings the containers file up to date, listens, and
  // serves until destroyed. INVALID_ARGUMENT and NOT_FOUND for bad settings;
  // otherwise the errors of Storage and GrpcServer. A start that fails removes the data
  // directory again if it has made it.
  static absl::StatusOr<std::unique_ptr<Sidecar>> Start(const ServerConfig& config);

  // Readiness off; no calls any more; no deletes; background work ended; clock
  // remembered; database closed. Calls under way are answered first; a change that
  // waits for deletes on their way takes as long as they do, at most delete_deadline,
  // and liveness is told until then. Connections then have a second to close.
  ~Sidecar();
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  // Reads the containers file again and applies what has changed in it, as at the start. What
  // came of it is logged; of a file with an error nothing is applied. Waits for storage, and
  // for deletes on their way. For one thread.
  void ReloadContainers();

 private:
  struct Parts;
  explicit Sidecar(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

// How many threads a sidecar with these settings has at most, but for those of gRPC.
int ThreadsOf(const ServerConfig& config);

// Opens the database, which nobody may be using, and checks it: OK if it is sound.
absl::Status CheckDataDir(const ServerConfig& config);

// Make the data directory, which must be empty or missing, of the backup or the damaged
// directory that `config` names, and log what came of it.
absl::Status RestoreDataDir(const ServerConfig& config);
absl::Status RepairDataDir(const ServerConfig& config);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_SIDECAR_H_
