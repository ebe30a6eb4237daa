#include "tests/testing/log_ends.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ttl {
namespace {

constexpr int kBytes = 4096;

void Check(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::abort();
}

}  // namespace

LogEnds::LogEnds(Kind kind) {
  int ends[2];
  if (kind == Kind::kPipe) {
    Check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    Check(fcntl(ends[1], F_SETPIPE_SZ, kBytes) >= 0, "F_SETPIPE_SZ");
    const std::string path = "/proc/self/fd/" + std::to_string(ends[1]);
    fill_end_ = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    Check(fill_end_ >= 0, path.c_str());
  } else {
    Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    Check(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &kBytes, sizeof(kBytes)) == 0, "SO_SNDBUF");
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
}

LogEnds::~LogEnds() {
  if (fill_end_ >= 0) close(fill_end_);
  close(write_end_);
  close(read_end_);
}

// A byte at a time: what is left over, not even a part of a line fits into.
void LogEnds::Fill() {
  while (send(write_end_, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) continue;  // if a socket
  while (fill_end_ >= 0 && write(fill_end_, "x", 1) == 1) continue;
}

std::string LogEnds::Read() {
  std::string text;
  char buffer[4096];
  for (pollfd end = {.fd = read_end_, .events = POLLIN, .revents = 0}; poll(&end, 1, 0) == 1;) {
    const ssize_t count = read(read_end_, buffer, sizeof(buffer));
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

}  // namespace ttl
