#include "service/server/connection_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "service/server/closed_connections.h"
#include "service/server/connection_guards.h"

namespace ttl {
namespace {

// The system gives the lowest free number to a file: one with this number or above means
// that so many are open.
std::atomic<int> file_bound = std::numeric_limits<int>::max();
// Held open, to be given up for a moment when there is no number left; -1: none.
std::atomic<int> spare_file = -1;

// Returns the limit on open files, which it has raised to `wanted` if it could.
int64_t RaiseFileLimit(int64_t wanted) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  if (limit.rlim_cur < static_cast<rlim_t>(wanted)) {
    limit.rlim_cur = std::min(static_cast<rlim_t>(wanted), limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<int64_t>(std::min(limit.rlim_cur, static_cast<rlim_t>(wanted)));
}

int OpenSpareFile() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

int Accept(int listener, sockaddr* address, socklen_t* length, int flags) {
  return static_cast<int>(syscall(SYS_accept4, listener, address, length, flags));
}

void CountRefused() { CountClosedConnection(CloseReason::kTooManyConnections); }

// Closes the connection that waits, for which there is no file. False if it cannot.
bool RefuseWithoutFile(int listener) {
  const int spare = spare_file.exchange(-1);
  if (spare < 0) return false;
  close(spare);
  const int connection = Accept(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection >= 0) close(connection);
  spare_file = OpenSpareFile();
  if (connection >= 0) CountRefused();
  return connection >= 0;
}

// The next connection that may stay. Goes through all that wait: gRPC is not told of them
// again.
int AcceptWithinBound(int listener, sockaddr* address, socklen_t* length, int flags) {
  while (true) {
    const int connection = Accept(listener, address, length, flags);
    if (connection >= 0 && connection < file_bound) {
      BeginGuard(connection);
      return connection;
    }
    if (connection >= 0) {
      close(connection);
      CountRefused();
      continue;
    }
    if (errno != EMFILE && errno != ENFILE) return -1;
    if (RefuseWithoutFile(listener)) continue;
    errno = EAGAIN;
    return -1;
  }
}

}  // namespace

void LimitConnections(int64_t max_connections) {
  const int64_t wanted = max_connections + kOtherOpenFiles;
  const int64_t limit = RaiseFileLimit(wanted);
  // Where little is allowed, half of it is for the other files.
  const int64_t bound = std::max(limit - kOtherOpenFiles, limit / 2);
  if (limit < wanted) {
    spdlog::warn("fewer connections than wanted: max_connections={} served={} max_open_files={}",
                 max_connections, bound, limit);
  }
  file_bound = static_cast<int>(limit < wanted ? bound : wanted);
  spare_file = OpenSpareFile();
}

}  // namespace ttl

extern "C" int accept4(int listener, sockaddr* address, socklen_t* length, int flags) {
  return ttl::AcceptWithinBound(listener, address, length, flags);
}
