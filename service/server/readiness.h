#ifndef TTL_SERVICE_SERVER_READINESS_H_
#define TTL_SERVICE_SERVER_READINESS_H_

#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace ttl {

// Sets the statuses of the health service. "startup" and "liveness" are SERVING from
// construction on, so that a store that waits for the sidecar may start and the process
// is not restarted. "" and "readiness" are SERVING while the sidecar is ready; the reason
// why it is not is logged whenever it changes. Not thread-safe, except is_ready().
class Readiness {
 public:
  // Starts as not ready. `health` must outlive this object.
  explicit Readiness(grpc::HealthCheckServiceInterface& health);

  // Sets not ready, because the process is about to stop.
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  // Sets ready if `state` is OK, else not ready with `state` as the reason.
  void Set(const absl::Status& state);

  // The status served now. Thread-safe.
  bool is_ready() const { return ready_; }

 private:
  void Publish(bool ready);

  grpc::HealthCheckServiceInterface& health_;
  std::optional<absl::Status> state_;  // absent: never set
  std::atomic<bool> ready_ = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_READINESS_H_
