#ifndef TTL_TESTS_TESTING_FAKE_WATCH_SERVICE_H_
#define TTL_TESTS_TESTING_FAKE_WATCH_SERVICE_H_

#include <grpcpp/server.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/base/mutex.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/container_service.grpc.pb.h"

namespace ttl {

// A scripted WatchContainers on a Unix socket, for tests of watchers. One stream at a time is
// served; others wait for their turn. Thread-safe.
class FakeWatchService : public v1::ContainerService::Service {
 public:
  FakeWatchService();
  ~FakeWatchService() override;

  // The gRPC address of the server.
  const std::string& address() const { return address_; }

  // Sends a message on the open stream, or on the next one.
  void Send(const v1::WatchContainersResponse& message);
  // Ends the open stream after the messages sent, or the next one.
  void End(const grpc::Status& status);

  // Restarts the server at the same address; open streams break.
  void StopServer();
  void StartServer();

  // The requests of all streams so far, oldest first.
  std::vector<v1::WatchContainersRequest> requests() const;
  // The number of open streams.
  int open_streams() const;

 private:
  // A message, or the end.
  struct Step {
    std::optional<v1::WatchContainersResponse> message;
    grpc::Status end;
  };

  grpc::Status WatchContainers(grpc::ServerContext* context,
                               const v1::WatchContainersRequest* request,
                               grpc::ServerWriter<v1::WatchContainersResponse>* writer) override;
  grpc::Status Serve(grpc::ServerContext& context,
                     grpc::ServerWriter<v1::WatchContainersResponse>& writer);
  // Absent: the stream is cancelled.
  std::optional<Step> NextStep(const grpc::ServerContext& context);
  void Tell(Step step);

  const TempDir directory_;
  const std::string address_;

  mutable Mutex mutex_;
  CondVar told_;
  std::deque<Step> steps_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::WatchContainersRequest> requests_ ABSL_GUARDED_BY(mutex_);
  int open_streams_ ABSL_GUARDED_BY(mutex_) = 0;

  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_WATCH_SERVICE_H_
