#ifndef TTL_SERVICE_SERVER_READINESS_H_
#define TTL_SERVICE_SERVER_READINESS_H_

#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace ttl {

// What the health service says. "startup" and "liveness" are SERVING from construction
// on: a store that waits for us may start, and the process need not be restarted. ""
// and "readiness" are SERVING while calls are welcome; why they are not is logged
// whenever it changes. For one thread, but for is_ready().
class Readiness {
 public:
  // Not ready at first. `health` must outlive this.
  explicit Readiness(grpc::HealthCheckServiceInterface& health);

  // Not ready any more: the process is about to stop.
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  // Ready if `state` is OK; else it says why not.
  void Set(const absl::Status& state);

  // What is said now.
  bool is_ready() const { return ready_; }

 private:
  void Publish(bool ready);

  grpc::HealthCheckServiceInterface& health_;
  std::optional<absl::Status> state_;  // absent: never set
  std::atomic<bool> ready_ = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_READINESS_H_
