#ifndef TTL_SERVICE_SERVER_SWEEP_HEALTH_H_
#define TTL_SERVICE_SERVER_SWEEP_HEALTH_H_

#include <grpcpp/health_check_service_interface.h>

#include <string>
#include <vector>

namespace ttl {

// What the health service says under the name "sweep": SERVING while the sweeper takes
// its steps and deletes get on (OverdueWatch). Readiness does not depend on it, since checks and
// reports go on without deletes. Why it is not is logged once. For one thread.
class SweepHealth {
 public:
  // `health` must outlive this.
  explicit SweepHealth(grpc::HealthCheckServiceInterface& health);

  // What is wrong, in one sentence each: the sweeper is stalled, or deletes make no progress.
  void Set(const std::vector<std::string>& reasons);

 private:
  grpc::HealthCheckServiceInterface& health_;
  bool serving_ = true;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_SWEEP_HEALTH_H_
