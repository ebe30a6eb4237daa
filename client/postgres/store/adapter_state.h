#ifndef TTL_CLIENT_POSTGRES_STORE_ADAPTER_STATE_H_
#define TTL_CLIENT_POSTGRES_STORE_ADAPTER_STATE_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/base/wall_clock.h"
#include "ttlpostgres/v1/state_service.grpc.pb.h"

namespace ttl::postgres {

// Readiness of a running ttl-postgres.
struct AdapterState {
  std::string problem;  // why it is not ready, for humans; empty: it is ready
  absl::Time since;     // when `problem` last changed
  int64_t pid = 0;
};

// Serves the AdapterState over gRPC. Thread-safe.
class AdapterStateService final : public ttlpostgres::v1::StateService::Service {
 public:
  explicit AdapterStateService(WallClock clock);

  void SetProblem(const std::string& problem);
  AdapterState Get() const;

  grpc::Status GetState(grpc::ServerContext* context,
                        const ttlpostgres::v1::GetStateRequest* request,
                        ttlpostgres::v1::GetStateResponse* response) override;

 private:
  const WallClock clock_;
  mutable Mutex mutex_;
  AdapterState state_ ABSL_GUARDED_BY(mutex_);
};

// Asks the ttl-postgres that listens on `address`. UNIMPLEMENTED if it predates this service;
// UNAVAILABLE or DEADLINE_EXCEEDED if it does not answer by `deadline`.
absl::StatusOr<AdapterState> AskAdapterState(const std::string& address, absl::Time deadline);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_ADAPTER_STATE_H_
