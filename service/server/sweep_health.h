#ifndef TTL_SERVICE_SERVER_SWEEP_HEALTH_H_
#define TTL_SERVICE_SERVER_SWEEP_HEALTH_H_

#include <grpcpp/health_check_service_interface.h>

#include <string>
#include <vector>

namespace ttl {

// Sets the status "sweep" of the health service: SERVING while the sweeper takes steps, deletes
// make progress, and none wait too long for a gated subscription (OverdueWatch). Readiness does not
// depend on it, because checks and reports work without deletes. The reason is logged when the
// status changes. Not thread-safe.
class SweepHealth {
 public:
  // `health` must outlive this.
  explicit SweepHealth(grpc::HealthCheckServiceInterface& health);

  // `reasons`: the problems, one sentence each; empty if there are none.
  void Set(const std::vector<std::string>& reasons);

 private:
  grpc::HealthCheckServiceInterface& health_;
  bool serving_ = true;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_SWEEP_HEALTH_H_
