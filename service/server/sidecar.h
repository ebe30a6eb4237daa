#ifndef TTL_SERVICE_SERVER_SIDECAR_H_
#define TTL_SERVICE_SERVER_SIDECAR_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/server/config/config.h"

namespace ttl {

// A running ttl-sidecar. The constructor builds its parts bottom-up; the destructor
// stops them in the order of a clean shutdown.
class Sidecar {
 public:
  // Opens the database, applies the containers file, listens, and serves until
  // destroyed. INVALID_ARGUMENT and NOT_FOUND mean a wrong setting; other errors are
  // those of Storage and GrpcServer. A start that fails removes the data directory if it
  // created it.
  static absl::StatusOr<std::unique_ptr<Sidecar>> Start(const ServerConfig& config);

  // Turns readiness off, refuses new calls, stops deletes and background work, saves the
  // clock and closes the database, in this order. Calls in flight are answered first; a
  // change that waits for deletes in flight takes at most delete_deadline, and liveness is
  // served until then. Connections then have a second to close.
  ~Sidecar();
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  // Reads the containers file again and applies the entries that changed, as at the start. The
  // result is logged; if the file has an error, nothing is applied. Blocks on storage and on
  // deletes in flight. Not thread-safe.
  void ReloadContainers();

 private:
  struct Parts;
  explicit Sidecar(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

// Maximum number of threads of a sidecar with these settings, without those of gRPC.
int ThreadsOf(const ServerConfig& config);

// Opens the database, which no other process may be using, and verifies it: OK if it is
// sound.
absl::Status CheckDataDir(const ServerConfig& config);

// Create the data directory, which must be empty or missing, from the backup or the damaged
// directory that `config` names, and log the result.
absl::Status RestoreDataDir(const ServerConfig& config);
absl::Status RepairDataDir(const ServerConfig& config);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_SIDECAR_H_
