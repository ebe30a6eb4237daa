#include "client/postgres/store/adapter_state.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <unistd.h>

#include <utility>

#include "service/base/mutex.h"

namespace ttl::postgres {

AdapterStateService::AdapterStateService(WallClock clock)
    : clock_(std::move(clock)), state_{"starting", clock_(), getpid()} {}

void AdapterStateService::SetProblem(const std::string& problem) {
  const MutexLock lock(mutex_);
  if (problem == state_.problem) return;
  state_.problem = problem;
  state_.since = clock_();
}

AdapterState AdapterStateService::Get() const {
  const MutexLock lock(mutex_);
  return state_;
}

grpc::Status AdapterStateService::GetState(grpc::ServerContext*,
                                           const ttlpostgres::v1::GetStateRequest*,
                                           ttlpostgres::v1::GetStateResponse* response) {
  const AdapterState state = Get();
  response->set_problem(state.problem);
  response->set_since(absl::ToUnixSeconds(state.since));
  response->set_pid(state.pid);
  return grpc::Status::OK;
}

absl::StatusOr<AdapterState> AskAdapterState(const std::string& address, absl::Time deadline) {
  const auto stub = ttlpostgres::v1::StateService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(deadline));
  ttlpostgres::v1::GetStateResponse response;
  const grpc::Status status =
      stub->GetState(&context, ttlpostgres::v1::GetStateRequest(), &response);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  return AdapterState{response.problem(), absl::FromUnixSeconds(response.since()), response.pid()};
}

}  // namespace ttl::postgres
