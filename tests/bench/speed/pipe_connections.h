#ifndef TTL_TESTS_BENCH_SPEED_PIPE_CONNECTIONS_H_
#define TTL_TESTS_BENCH_SPEED_PIPE_CONNECTIONS_H_

#include <poll.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl::bench {

// Connections to a server whose answers to a request are known byte by byte, which costs
// the least that a client can cost. On each one request is under way at a time. For
// one thread.
class PipeConnections {
 public:
  // Connects `count` times to a Unix socket. UNAVAILABLE if that does not work.
  static absl::StatusOr<PipeConnections> Open(const std::string& socket_path, int count);

  PipeConnections(PipeConnections&& other) noexcept = default;
  PipeConnections& operator=(PipeConnections&&) = delete;
  ~PipeConnections();

  // Sends a request that is to be answered with `answer`; both may be large. The answer
  // is copied.
  absl::Status Send(int connection, absl::string_view request, absl::string_view answer);

  // Waits until requests are answered, and returns those connections. INTERNAL if an
  // answer is another one.
  absl::StatusOr<std::vector<int>> Wait();

 private:
  PipeConnections() = default;
  // What arrived; whether the answer is complete.
  absl::StatusOr<bool> Receive(size_t connection);

  std::vector<pollfd> sockets_;
  std::vector<std::string> expected_;
  std::vector<size_t> received_;  // bytes of it
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_PIPE_CONNECTIONS_H_
