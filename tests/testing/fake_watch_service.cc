#include "tests/testing/fake_watch_service.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ttl {

FakeWatchService::FakeWatchService()
    : address_(absl::StrCat("unix:", directory_.File("watch.sock"))) {
  StartServer();
}

FakeWatchService::~FakeWatchService() {
  if (server_ != nullptr) StopServer();
}

void FakeWatchService::Send(const v1::WatchContainersResponse& message) {
  Tell({message, grpc::Status::OK});
}

void FakeWatchService::End(const grpc::Status& status) { Tell({std::nullopt, status}); }

void FakeWatchService::StopServer() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

void FakeWatchService::StartServer() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) std::abort();
}

std::vector<v1::WatchContainersRequest> FakeWatchService::requests() const {
  MutexLock lock(mutex_);
  return requests_;
}

int FakeWatchService::open_streams() const {
  MutexLock lock(mutex_);
  return open_streams_;
}

grpc::Status FakeWatchService::WatchContainers(
    grpc::ServerContext* context, const v1::WatchContainersRequest* request,
    grpc::ServerWriter<v1::WatchContainersResponse>* writer) {
  {
    MutexLock lock(mutex_);
    requests_.push_back(*request);
    ++open_streams_;
  }
  grpc::Status end = Serve(*context, *writer);
  MutexLock lock(mutex_);
  --open_streams_;
  return end;
}

grpc::Status FakeWatchService::Serve(grpc::ServerContext& context,
                                     grpc::ServerWriter<v1::WatchContainersResponse>& writer) {
  std::optional<Step> step = NextStep(context);
  while (step.has_value() && step->message.has_value()) {
    writer.Write(*step->message);
    step = NextStep(context);
  }
  return step.has_value() ? step->end : grpc::Status::CANCELLED;
}

std::optional<FakeWatchService::Step> FakeWatchService::NextStep(
    const grpc::ServerContext& context) {
  MutexLock lock(mutex_);
  // Nobody tells that a call was cancelled.
  while (steps_.empty() && !context.IsCancelled()) {
    told_.WaitFor(mutex_, std::chrono::milliseconds(5));
  }
  if (context.IsCancelled()) return std::nullopt;
  Step step = std::move(steps_.front());
  steps_.pop_front();
  return step;
}

void FakeWatchService::Tell(Step step) {
  MutexLock lock(mutex_);
  steps_.push_back(std::move(step));
  told_.NotifyAll();
}

}  // namespace ttl
