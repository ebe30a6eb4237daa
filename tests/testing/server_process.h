#ifndef TTL_TESTS_TESTING_SERVER_PROCESS_H_
#define TTL_TESTS_TESTING_SERVER_PROCESS_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/testing/process.h"

namespace ttl {

// A gRPC server run as a process that can be stopped, killed and started again
// with the same arguments, and so on the same data. Base of SidecarProcess and
// DocumentStoreProcess. Killed on destruction.
//
// Not thread-safe, except that address() and channel() may be used by all
// threads. See Subprocess on the thread that starts it.
class ServerProcess {
 public:
  // Returns OK if the server behind the channel is ready. Called until it is.
  using ReadyCheck = std::function<absl::Status(const std::shared_ptr<grpc::Channel>&)>;

  virtual ~ServerProcess() = default;

  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Starts the process and waits until it is ready. FailedPrecondition if it is
  // running already, Aborted if it ended instead, DeadlineExceeded if it is not
  // ready in time; the last two carry the end of its log.
  absl::Status Start(absl::Duration deadline = absl::Seconds(30));

  // Starts the process without waiting for it.
  absl::Status Launch();

  // Waits until a launched process is ready, as Start does.
  absl::Status WaitReady(absl::Duration deadline = absl::Seconds(30));

  // SIGTERM, then waits for the end. An error if the process does not end in
  // time or not with exit code 0.
  absl::Status Stop(absl::Duration deadline = absl::Seconds(30));

  // SIGKILL, then waits for the end. No effect if it is not running.
  void Kill();

  // As those of Subprocess.
  absl::Status Suspend();
  absl::Status Resume();

  bool IsRunning();

  // gRPC address of the server, "unix:/...".
  const std::string& address() const { return address_; }

  // A channel to the server that outlives restarts.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // The process; null before the first start.
  Subprocess* process() { return process_.get(); }

  // All that the process has written to standard output and error so far, over
  // all its starts.
  std::string Log() const;

 protected:
  ServerProcess(std::string address, SubprocessOptions options, ReadyCheck ready);

 private:
  const std::string address_;
  const SubprocessOptions options_;
  const ReadyCheck ready_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Subprocess> process_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_SERVER_PROCESS_H_
