#ifndef TTL_SERVICE_SERVER_SWEEP_HEALTH_H_
#define TTL_SERVICE_SERVER_SWEEP_HEALTH_H_

#include <grpcpp/health_check_service_interface.h>

#include <optional>

#include "absl/time/time.h"

namespace ttl {

// What the health service says under the name "sweep": SERVING while the sweeper takes
// its steps. Readiness does not depend on it, since checks and reports go on without
// deletes. Why it is not is logged once. For one thread.
class SweepHealth {
 public:
  // `health` must outlive this.
  explicit SweepHealth(grpc::HealthCheckServiceInterface& health);

  // For how long the sweeper has taken no step, if that is longer than it ever should.
  void Set(std::optional<absl::Duration> stall);

 private:
  grpc::HealthCheckServiceInterface& health_;
  bool stalled_ = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_SWEEP_HEALTH_H_
